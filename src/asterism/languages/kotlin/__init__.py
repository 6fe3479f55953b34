"""Kotlin."""
