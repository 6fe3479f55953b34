"""Source files from archives and clones: what to train on, and what must not be trained on."""
