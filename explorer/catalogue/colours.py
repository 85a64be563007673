"""The colours of pictures that Python draws, each with one meaning.

The browser's style sheets have the same colours under the same names (``frontend/elements/tokens.css``).
Rules take the colours of a set by their position in the list of visible rules. Every colour of a curve has
a contrast of 3:1 or more with its background. The colours of a set are distinct under normal vision and
under each kind of colour blindness.
"""

# Blue, orange, green, pink, purple, red. Their lightness maximizes the smallest distance between any two
# colours under normal vision and under each kind of colour blindness.
RULE_COLOURS_LIGHT = ("#0995fd", "#c8840b", "#167738", "#ff3dc7", "#5012cc", "#750817")
RULE_COLOURS_DARK = ("#029dff", "#ff880f", "#82ec7b", "#f0a6d5", "#7054c1", "#bb3c3d")
NEUTRAL = "#7f858f"  # the op, and marks that belong to no rule
# The ends of every diverging colour scale around 0: olive below and teal above, in the two widest gaps
# between the hues of rules.
NEGATIVE, POSITIVE = "#6f7d00", "#0f8799"
INK, GROUND, ACCENT = "#1c2733", "#ffffff", "#1769aa"
RIGHT, WRONG = "#158237", "#b00020"
CLEAR = "rgba(0, 0, 0, 0)"


def fade(colour: str, opacity: float) -> str:
    """Return a colour, given as "#rrggbb", with an opacity from 0 to 1 in the syntax of CSS."""
    return f"rgba({', '.join(map(str, bytes.fromhex(colour[1:])))}, {opacity})"


def blend(colour: str, share: float) -> str:
    """Return the opaque colour, as "#rrggbb", of ``colour`` with the opacity ``share`` on ``GROUND``."""
    pairs = zip(bytes.fromhex(colour[1:]), bytes.fromhex(GROUND[1:]), strict=True)
    return "#" + bytes(round(share * over + (1 - share) * below) for over, below in pairs).hex()


GRID = fade(NEUTRAL, 0.25)
