"""The same examples on every machine and every run; `--hypothesis-profile=explore` tries others."""

from hypothesis import settings

settings.register_profile("steady", derandomize=True, database=None)
settings.register_profile("explore", derandomize=False, max_examples=500)
settings.load_profile("steady")
