"""How do coding agents come to use Asterism? Their configuration, planned purely, then written."""
