"""Every import that means a file is found again by the keys of that file."""

import pytest

from asterism.analysis.graph.modules import FileSet, resolve_module
from asterism.domain.links import link_key, path_keys

FILES = """
    src/index.ts src/app.ts src/user.service.ts src/user.service.d.ts src/data.json src/ui/index.tsx
    src/ui/Button.tsx src/ui/button-group.ts src/_private.ts src/json.ts src/main.ts lib/legacy.js
    shop/__init__.py shop/_cart.py shop/json.py shop/models/__init__.py shop/models/user_data.py
    shop/models/go.py shop/sh.pyi main.py
    core/src/lib.rs core/src/net.rs core/src/net/tcp_stream.rs core/src/io/mod.rs core/src/io/c.rs
    java/com/acme/UserService.java java/com/acme/json/Json.java kt/com/acme/Go.kt
    php/Http/Json.php php/Http/Client_Factory.php
    """

IMPORTS = {
    "typescript": (
        "src/app.ts src/ui/Button.tsx",
        ". .. ./ ../ ./index ./user.service ./user.service.js ./data.json ./ui ./ui/ ../ui ./Button"
        " ./ui/Button.js ./button-group ../_private ./_private ../json ./json ./main.js ../app"
        " ../lib/legacy ../../lib/legacy.js ./data.json?raw",
    ),
    "python": (
        "shop/__init__.py shop/models/user_data.py main.py",
        ". .. ._cart .json .models .models.go ..json ..sh .user_data .go shop shop.json shop._cart"
        " shop.models shop.models.user_data shop.models.go shop.sh main",
    ),
    "rust": (
        "core/src/lib.rs core/src/net/tcp_stream.rs core/src/io/mod.rs core/src/io/c.rs",
        "crate crate::net crate::net::tcp_stream crate::io crate::io::c self self::c super super::c"
        " super::net super::super::io::c net::tcp_stream c io",
    ),
    "java": ("java/com/acme/Main.java", "com.acme.UserService com.acme.json.Json com.acme.Go"),
    "php": ("php/Main.php", r"Acme\Http\Json Acme\Http\Client_Factory"),
}

MEANT = [
    (module, target)
    for language, (importers, modules) in IMPORTS.items()
    for importer in importers.split()
    for module in modules.split()
    if (target := resolve_module(importer, language, module, FileSet([*FILES.split(), importer])))
]


def test_most_imports_mean_a_file() -> None:
    assert len({target for _, target in MEANT}) > 25
    assert len(MEANT) > 60


@pytest.mark.parametrize(("module", "target"), sorted(set(MEANT)))
def test_the_key_of_an_import_is_among_the_keys_of_its_file(module: str, target: str) -> None:
    assert link_key(module) in path_keys(target)
