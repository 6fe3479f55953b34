"""Installs Asterism into coding agents: plans, edits and writes their configuration."""
