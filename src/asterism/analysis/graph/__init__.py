"""Which file of the repository does an import mean, and what does that file offer?"""
