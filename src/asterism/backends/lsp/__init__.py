"""Language servers and compilers as helper processes: their protocol, their life and their end."""
