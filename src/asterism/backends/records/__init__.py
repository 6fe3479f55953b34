"""Where are conversations and sessions kept? The only home of SQLAlchemy and Alembic."""
