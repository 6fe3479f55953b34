"""Rules, references and tools: what each request is given, and why."""
