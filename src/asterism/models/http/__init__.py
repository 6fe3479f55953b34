"""The HTTP client that remote models share: retries, batches, limits."""
