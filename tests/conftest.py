"""The same examples on every machine and every run; `--hypothesis-profile=explore` tries others."""

import os

from hypothesis import settings

# Language servers of whoever runs the tests would answer otherwise.
for family in ("CPP", "GO", "RUST", "JAVA"):
    os.environ[f"ASTERISM_STRUCTURE_{family}"] = "off"

settings.register_profile("steady", derandomize=True, database=None)
settings.register_profile("explore", derandomize=False, max_examples=500)
settings.load_profile("steady")
