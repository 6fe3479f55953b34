"""Models of our own that run on this machine: their folders, and what runs them."""
