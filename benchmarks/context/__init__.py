"""Choosing context items for a request: quality, cost, models, calibration."""
