"""Colours of the charts: one for each position in the list of rules that are shown, and one for the op.

Every colour stands out from its ground by 3:1 or more, and from the others of its set whichever cones
an eye has.
"""

# Blue, orange, green, pink, purple, red: six hues, their lightness searched for the largest least
# distance between any two under normal and under each kind of colour-blind sight.
RULE_COLOURS_LIGHT = ("#0995fd", "#c8840b", "#167738", "#ff3dc7", "#5012cc", "#750817")
RULE_COLOURS_DARK = ("#029dff", "#ff880f", "#82ec7b", "#f0a6d5", "#7054c1", "#bb3c3d")
NEUTRAL = "#7f858f"
# The ends of a scale from below 0 to above it: blue and orange, which every eye tells apart.
NEGATIVE, POSITIVE = "#2f7fd6", "#d9731a"
