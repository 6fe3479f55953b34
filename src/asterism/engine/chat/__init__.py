"""The chat service: requests, turns in the background, tools and sources."""
