"""Training runs and studies over HTTP."""
