"""Classes over HTTP: one code, everybody's prediction on one screen."""
