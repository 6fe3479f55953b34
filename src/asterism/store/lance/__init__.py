"""The chunk table in Lance: schema, writing, reading and upkeep."""
