"""What instruments share: the nets that they look at, questions, the shape of a rule, smoothing."""
