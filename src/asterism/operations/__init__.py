"""What users can call: requests, replies, traits and surfaces, each declared once."""
