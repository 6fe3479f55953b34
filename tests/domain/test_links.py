"""Does a module have a key in common with every file that it could mean?"""

import pytest

from asterism.domain.links import link_key, path_keys


@pytest.mark.parametrize(
    ("module", "key"),
    [
        ("./auth/tokenService.js", "tokenservice"),
        ("./auth/token.service", "token"),
        ("a.b.c", "c"),
        ("react", "react"),
        ("@scope/pkg", "pkg"),
        ("pkg/index", "index"),
        ("crate::net::Socket", "socket"),
        ("crate", ""),
        ("super", ""),
        ("App\\Models\\User", "user"),
        (".", ""),
        ("..", ""),
        ("../", ""),
        (".models", "models"),
        ("..pkg.models", "models"),
        ("stdio.h", "stdio"),
        ("scala.collection._", "collection"),
        ("", ""),
    ],
)
def test_key_of_a_module(module: str, key: str) -> None:
    assert link_key(module) == key


@pytest.mark.parametrize(
    ("module", "paths"),
    [
        ("./auth/tokenService.js", ["src/auth/tokenService.ts", "src/auth/tokenService/index.ts"]),
        ("./auth/token.service", ["src/auth/token.service.ts", "auth/token.service/index.js"]),
        ("./auth", ["src/auth.ts", "src/auth/index.tsx", "src/auth.d.ts"]),
        ("./auth/index", ["auth/index.ts", "auth/index/index.ts"]),
        (".", ["index.ts", "src/index.js", "pkg/__init__.py", "pkg/sub.py"]),
        ("..", ["index.ts", "pkg/__init__.py"]),
        (
            "a.b.c",
            ["a/b/c.py", "a/b/c/__init__.py", "src/a/b/c.pyi", "a/b/c.lua", "a/b/c/init.lua"],
        ),
        ("pkg", ["pkg/__init__.py", "pkg/member.py", "pkg.py"]),
        ("com.shop.Order", ["src/com/shop/Order.java", "com/shop/Order.kt"]),
        ("com.shop", ["src/com/shop/Helpers.kt"]),
        ("crate::net", ["src/net.rs", "src/net/mod.rs"]),
        ("crate", ["src/lib.rs", "src/main.rs"]),
        ("super", ["src/net.rs", "src/net/mod.rs"]),
        ("MyApp.UserController", ["lib/my_app/user_controller.ex"]),
        ("App\\Models\\User", ["app/Models/User.php"]),
        ("lib/shapes.h", ["lib/shapes.h"]),
        ("tables.def", ["src/tables.def"]),
        ("github.com/ann/shop/cart", ["cart/cart.go", "cart/total.go"]),
    ],
)
def test_a_module_and_its_files_share_a_key(module: str, paths: list[str]) -> None:
    assert [path for path in paths if link_key(module) not in path_keys(path)] == []


@pytest.mark.parametrize(
    ("module", "path"),
    [("./auth", "src/cart.ts"), ("a.b.c", "a/b/d.py"), (".", "src/cart.ts"), ("a.ts", "b.ts")],
)
def test_strangers_share_none(module: str, path: str) -> None:
    assert link_key(module) not in path_keys(path)
