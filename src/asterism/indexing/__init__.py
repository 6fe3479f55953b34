"""Files to index: plan purely what changed, then do only that."""
