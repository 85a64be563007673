"""Trainings and studies over HTTP: commands, streams, files to take away."""
