"""Here is a file; give me its outline. The only home of tree-sitter."""
