"""Code in, facts out: no network, no database."""
