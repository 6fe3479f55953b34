"""Language models: providers, streaming and failures."""
