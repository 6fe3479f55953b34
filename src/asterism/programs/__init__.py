"""Which programs does Asterism start, and with what? The only home of `subprocess`."""
