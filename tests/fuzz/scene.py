"""A small repository with its index, secrets in and around it, and what a reply must never hold."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from asterism.config.sections import IndexSettings, WatchSettings, WorkSettings
from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.stores import DataDirectories
from asterism.operations.calls import Standpoint
from asterism.operations.dispatch.hidden_paths import hidden_places
from asterism.operations.dispatch.toolbox import Toolbox

SECRET = "swordfish-canary"
"""A text in files that no reply shows."""
OWN = "own-canary"
"""Is part of the paths of the data directory, the cache and the home."""
CANARIES = (SECRET, OWN)
OUR_FRAME = re.compile(r'File "[^"]*asterism/\w[^"]*\.py\\?", line')
"""A line of a traceback of Asterism; one that a query quotes is of another program."""

AROUND = 600
"""Characters on each side of such a text that are shown."""

SETTINGS = Settings(
    # However slow the machine is, a query sees the files as they are.
    index=IndexSettings(sync_seconds=600),
    work=WorkSettings(jobs=1),
    watch=WatchSettings(servers=False),
)

FILES = {
    "cart.py": "from money import Money\n\n\nclass Cart:\n    '''Holds items.'''\n\n    def total(self):\n"
    "        return Money(sum(item.price for item in self.items))\n\n\ndef pay(cart):\n"
    "    raise ValueError('card refused')\n",
    "money.py": "class Money:\n    def __init__(self, cents):\n        self.cents = cents\n",
    "app.js": "import { total } from './total.js';\nexport function pay(cart) { return total(cart); }\n",
    "lib/total.ts": "export const total = (cart: Cart): number => cart.items.length;\n",
    "lib/naïve.go": "package lib\n\nfunc Naive() int { return 1 }\n",
    "docs/guide.md": "# Guide\n\nHow to pay: call `pay`.\n\n## Refunds\n\nNo refunds exist.\n",
    "long.py": "def f():\n    return " + "+".join(["1"] * 2_000) + "\n",
    ".env": f"KEY={SECRET}\n",
    ".gitignore": "*.log\n",
    "ignored.log": SECRET,
}


def write_files(base: Path) -> Path:
    """The repository, with links that lead out of it."""
    root = base / "shop"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    outside = base / OWN / "elsewhere" / "outside.py"
    outside.parent.mkdir(parents=True, exist_ok=True)
    outside.write_text(f"KEY = '{SECRET}'\n")
    (root / "away.py").symlink_to(outside)
    (root / "folder").symlink_to(outside.parent)
    return root


def places_in(base: Path) -> DataDirectories:
    """Directories of the server itself."""
    return DataDirectories(base / OWN / "data", base / OWN / "cache")


def engine_in(base: Path) -> Engine:
    """An engine with a data directory of its own."""
    os.environ["HOME"] = str(base / OWN / "home")
    os.environ["ASTERISM_DATA_DIR"] = str(base / OWN / "data")
    os.environ["ASTERISM_CACHE_DIR"] = str(base / OWN / "cache")
    return Engine(places_in(base), lambda _root: SETTINGS)


@contextmanager
def toolbox_in(base: Path) -> Iterator[Toolbox]:
    """All tools over the repository, indexed."""
    root = write_files(base)
    engine = engine_in(base)
    engine.index(engine.register(root))
    places = places_in(base)
    toolbox = Toolbox(engine, Standpoint(root), hidden_places((places.data, places.cache)))
    try:
        yield toolbox
    finally:
        toolbox.close()


def leaks(text: str) -> list[str]:
    """What must be in no reply and is in this one."""
    places = {one: text.find(one) for one in CANARIES if one in text}
    if traceback := OUR_FRAME.search(text):
        places["a traceback"] = traceback.start()
    # The text around it is in a line of its own, so that equal mistakes count as one.
    return [
        f"the reply holds {one}\n{text[max(0, at - AROUND) : at + AROUND]}"
        for one, at in places.items()
    ]
