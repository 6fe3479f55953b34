"""How the models that Asterism ships are made: from public source code to weights."""
