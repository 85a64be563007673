"""Classes over HTTP: students join with a code, predict, and see all predictions on one screen."""
