"""One façade over everything below; the only place that names implementations."""
