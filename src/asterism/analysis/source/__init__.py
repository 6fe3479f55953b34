"""Which files are there, and which of them are worth reading?"""
