"""Small faults that are planted one at a time, to measure how many of them the tests find."""
