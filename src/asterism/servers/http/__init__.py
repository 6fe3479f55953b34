"""The HTTP server: routes, access, limits, events and OpenAPI."""
