"""Exchange of the backward at chosen sites of a user's model."""

from explorer.model.swapping.bridge import UnreachedError
from explorer.model.swapping.inplace import Replaced
from explorer.model.swapping.parts import Swapped
from explorer.model.swapping.swapped import swap
