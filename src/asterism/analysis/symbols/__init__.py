"""Who is defined, exported, imported and used where?"""
