"""What of a text may leave this process: secrets masked, hidden characters made visible."""
