"""Descriptions of curves in plain sentences, each rendered from claims.

"Everywhere", "flat" and "unbounded" are meant mathematically; what is known of the drawn points alone
says "in this picture".
"""

from explorer.description.description import describe, described, document
from explorer.description.learning import LEARNING_WORDS, MOST_POSITIONS, learning_words, pull_words
from explorer.description.telling import Description
from explorer.description.words import MAIN_LENGTH

__all__ = [
    "LEARNING_WORDS", "MAIN_LENGTH", "MOST_POSITIONS", "Description", "describe", "described", "document",
    "learning_words", "pull_words",
]  # fmt: skip
