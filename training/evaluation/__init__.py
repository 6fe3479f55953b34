"""Measurements of finished models."""
