"""Quality of the ranking, and the numbers that are fitted for it."""
