"""Each step of the schema, oldest first."""
