"""What we talk to: one protocol per family, one file per vendor."""
