"""The tables of every kind of record share this description and one line of migrations."""

from sqlalchemy import MetaData

METADATA = MetaData(
    # Constraints have names, so that a migration can change them on every database.
    naming_convention={
        "ix": "%(table_name)s_by_%(column_0_N_name)s",
        "uq": "%(table_name)s_unique_%(column_0_N_name)s",
        "fk": "%(table_name)s_to_%(referred_table_name)s",
        "pk": "%(table_name)s_key",
    }
)
