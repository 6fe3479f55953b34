"""Migrations of the records' database, run by Alembic."""
