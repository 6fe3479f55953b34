"""The same examples on every machine and every run; `--hypothesis-profile=explore` tries others."""

import os
import signal
from threading import current_thread, main_thread

from hypothesis import HealthCheck, settings

# Otherwise the language servers installed on this machine would answer.
for family in ("CPP", "GO", "RUST", "JAVA"):
    os.environ[f"ASTERISM_STRUCTURE_{family}"] = "off"

# A shell starts background jobs with SIGINT ignored, and programs that the tests start inherit that:
# they would not end with Ctrl-C. A handler is not inherited, so they get the default action.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and current_thread() is main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No deadline and no check for slowness: on a busy machine an example can take any time.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("steady", patient, derandomize=True, database=None)
settings.register_profile("explore", patient, derandomize=False, max_examples=500)
settings.load_profile("steady")
