"""Files of model weights and the runtime that loads them."""
