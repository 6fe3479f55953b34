"""Frozen records that all layers share: outlines, chunks, symbols, searches, replies."""
