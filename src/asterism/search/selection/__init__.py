"""Selects the hits of a reply by thresholds, overlap and budget."""
