"""Claims about curves: verifiable statements, from which the sentences are rendered.

Claims that hold for every x follow from a curve's kinks and from the degree of its polynomials between kinks;
all others describe the plotted points only.
"""

from explorer.description.claims.claim import MAX_PIECES, Claim, Span
from explorer.description.claims.comparing import compare_curves
from explorer.description.claims.single import make_forward_claims, make_gradient_claims
