"""Runs and studies over HTTP: commands, event streams, exported files."""
