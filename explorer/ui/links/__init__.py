"""The choice of a page, its link, and the examples to start from."""
