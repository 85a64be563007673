"""Claims about curves: statements that can be checked, from which the sentences are rendered.

Claims for every x follow from a curve's kinks and from the degree of its polynomials between them; all
others are about the drawn points alone.
"""

from explorer.description.claims.claim import MOST_PIECES, Claim, Span
from explorer.description.claims.comparing import comparisons
from explorer.description.claims.single import forward_claims, gradient_claims

__all__ = ["MOST_PIECES", "Claim", "Span", "comparisons", "forward_claims", "gradient_claims"]
