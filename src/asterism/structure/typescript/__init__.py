"""Connections of TypeScript and JavaScript, from the TypeScript compiler."""
