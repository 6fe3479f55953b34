"""`asterism doctor`: checks of the machine, the settings, the indexes and the models."""
