"""Descriptions of curves in plain sentences, each of which is rendered from claims.

"Everywhere", "flat" and "unbounded" have their mathematical meaning. A statement about the plotted points
only says "in this picture".
"""

from explorer.description.description import describe, make_description, to_document
from explorer.description.learning import LEARNING_WORDS
from explorer.description.sentences import Description
from explorer.description.words import MAIN_LENGTH
