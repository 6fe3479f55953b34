"""Settings files: `asterism.toml` in a repository, and the user's own."""

import tomllib
from pathlib import Path

from asterism.config.layers import Layer
from asterism.domain.errors import SettingError

REPOSITORY_FILE = "asterism.toml"
USER_FILE = "asterism/config.toml"


def read_layer(path: Path) -> Layer | None:
    """The values of a settings file, sections flattened to keys; None if there is no such file."""
    try:
        with path.open("rb") as file:
            content = tomllib.load(file)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise SettingError(f"{path} cannot be read ({error.strerror}); check it.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingError(f"{path} is not valid TOML: {error}; mend or remove it.") from error
    values: dict[str, object] = {}
    for section, entries in content.items():
        if not isinstance(entries, dict):
            values[section] = entries
            continue
        for name, value in entries.items():
            values[f"{section}.{name}"] = value
    return Layer(str(path), values)
