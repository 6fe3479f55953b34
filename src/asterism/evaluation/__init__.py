"""Is it good, fast and cheap?"""
