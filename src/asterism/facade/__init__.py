"""What can a program do with Asterism?"""
