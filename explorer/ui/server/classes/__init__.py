"""Classes over HTTP: students join with a code, predict, and see everyone's predictions on one screen."""
