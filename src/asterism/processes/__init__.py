"""How does a process that Asterism starts end with the one that started it?"""
