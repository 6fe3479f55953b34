"""What another user of the machine could do, where the tests run as root."""

import os
import subprocess
import sys

OTHER_UID = 54_321
"""A user that no machine has."""

IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0

# The user may not look where Python is: everything is loaded before.
_BEFORE = f"""
import encodings.idna, http.client, json, os, socket, sys, urllib.parse
os.setgroups([])
os.setgid({OTHER_UID})
os.setuid({OTHER_UID})
"""

_ASKED = """
place = urllib.parse.urlsplit(sys.argv[1])
for line in sys.argv[2:]:
    method, path, headers, body = json.loads(line)
    client = http.client.HTTPConnection(place.hostname, place.port, timeout=120)
    client.request(method, path, body, headers)
    answer = client.getresponse()
    text = answer.read().decode()
    print(answer.status, json.loads(text)["error"]["code"] if answer.status >= 400 else "")
"""


def run_as_other_user(code: str, *arguments: str) -> str:
    """What some code prints in a process of that user."""
    command = [sys.executable, "-I", "-c", _BEFORE + code, *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd="/", timeout=240)
    return run.stdout


def asked_by_other_user(address: str, *requests: str) -> list[str]:
    """The status of each request and the code of its failure; requests are as JSON."""
    return run_as_other_user(_ASKED, address, *requests).splitlines()
