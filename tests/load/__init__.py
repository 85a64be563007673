"""A class on one server, without browsers; run with ``python -m tests.load ADDRESS N SCENARIO``."""
