"""Limits on the number, rate and size of each visitor's requests, and checks of their origin."""
