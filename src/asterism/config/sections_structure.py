"""Who is asked how symbols connect."""

from dataclasses import dataclass
from typing import Any

from asterism.config.described import described, whole
from asterism.config.setting import Kind, Voice


def _server(program: str, languages: str) -> Any:
    return described(
        Kind.text,
        "",
        f"The language server `{program}`; nothing means the one on the path, if there is one, "
        f"`off` that {languages} connected by name only.",
        voice=Voice.user,
    )


@dataclass(frozen=True, slots=True)
class StructureSettings:
    """Who is asked how symbols connect."""

    typescript: str = described(
        Kind.text,
        "",
        "The program of the TypeScript compiler, version 7; nothing means the one that came with "
        "Asterism, `off` that TypeScript and JavaScript are connected by name only.",
        voice=Voice.user,
    )
    python: str = described(
        Kind.text,
        "",
        "The program of the type checker `ty`; nothing means the one that was installed with "
        "Asterism, `off` that Python is connected by name only.",
        voice=Voice.user,
    )
    cpp: str = _server("clangd", "C and C++ are")
    go: str = _server("gopls", "Go is")
    rust: str = _server("rust-analyzer", "Rust is")
    java: str = _server("jdtls", "Java is")
    memory_mb: int = whole(
        2000,
        "Megabytes that each of these programs may use before it is ended.",
        minimum=200,
        voice=Voice.only_lower,
    )
    wait_seconds: float = described(
        Kind.decimal,
        20.0,
        "How long a question waits for such a program that is still reading the repository; "
        "after that it is answered by name.",
        minimum=0,
        voice=Voice.only_lower,
    )
