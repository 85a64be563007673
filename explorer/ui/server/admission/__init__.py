"""Who is let in, how often, and how much at a time."""
