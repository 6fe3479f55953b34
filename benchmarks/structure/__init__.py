"""Connections between symbols: are they exact, and what do they cost?"""
