"""What flows through Asterism: frozen records and errors, standard library only."""
