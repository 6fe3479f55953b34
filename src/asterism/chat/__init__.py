"""Answers: a question, the model, its tools, and the evidence."""
