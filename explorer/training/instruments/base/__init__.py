"""What instruments share: the nets that they measure, questions, shapes of rules, smoothing, exact slopes."""
