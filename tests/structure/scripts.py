"""The scripted language server where a real one could be."""

import sys
from pathlib import Path


def scripted(folder: Path, mode: str = "") -> str:
    """A program that is the scripted server in this mode."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mode").write_text(mode)
    script = Path(__file__).with_name("scripted_server.py").read_text()
    made = folder / "server.py"
    made.write_text(f"#!{sys.executable}\n{script}")
    made.chmod(0o755)
    return str(made)


def written(root: Path, files: dict[str, str]) -> Path:
    """These files below a directory."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root
