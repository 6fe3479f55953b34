"""What happens in this process: lines in a log, counts and times; standard library only."""
