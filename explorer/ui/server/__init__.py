"""The answers of the server."""
