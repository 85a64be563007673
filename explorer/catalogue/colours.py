"""The colours of curves: one for each position in the list of visible rules, and one for the op.

Every colour has a contrast of 3:1 or more with its background. The colours of a set are distinct under normal
vision and under each kind of colour blindness.
"""

# Blue, orange, green, pink, purple, red. Their lightness maximizes the smallest distance between any two
# colours under normal vision and under each kind of colour blindness.
RULE_COLOURS_LIGHT = ("#0995fd", "#c8840b", "#167738", "#ff3dc7", "#5012cc", "#750817")
RULE_COLOURS_DARK = ("#029dff", "#ff880f", "#82ec7b", "#f0a6d5", "#7054c1", "#bb3c3d")
NEUTRAL = "#7f858f"
# The ends of a diverging colour scale around 0, which people with any vision can tell apart: orange below and
# blue above, as in slow motion and in images of weights.
NEGATIVE, POSITIVE = "#d9731a", "#2f7fd6"
