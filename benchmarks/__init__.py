"""Measurements that take time; results are kept in RESULTS.md."""
