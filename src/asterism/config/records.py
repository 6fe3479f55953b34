"""Where the user's settings say that conversations are kept; only chats pay for importing it."""

import re
from pathlib import Path

from asterism.config.environment import records_password
from asterism.config.settings import Settings
from asterism.records.options import RecordsOptions
from asterism.types.errors import SettingError

_WITH_PASSWORD = re.compile(r"//[^/@\s]*:[^/@\s]+@|[?&](?:password|passwd|sslpassword)=")


def records_options(settings: Settings, data: Path) -> RecordsOptions:
    """The database, with the password that the environment has for it."""
    url = settings.records.url
    if _WITH_PASSWORD.search(url):
        raise SettingError(
            "records.url holds a password, which does not belong there; take it out, and set the "
            "environment variable ASTERISM_RECORDS_PASSWORD instead."
        )
    return RecordsOptions(data, url, records_password() if url else "")
