"""What Alembic runs to bring a database up to date: in the transaction that it is given."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=True)
context.run_migrations()
