"""Codes of classes: short enough to type, too many to guess."""

import secrets

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's: none of i, l, o and u
LETTERS = 9  # for 100 open classes: the chance to guess one is reckoned in a test
_GROUP = 3
_MEANT = str.maketrans("ilo", "110")
_LONGEST = 64  # characters that somebody may have typed


def new_code() -> str:
    """A code that nobody can foresee."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LETTERS))


def identity_of(text: str) -> str:
    """The identity of the class that a typed code means, whatever its case and marks; "" where it is none.

    The identity begins with the name of a server where the code does: ``first-k7m-x2p-wrq`` means
    ``first~k7mx2pwrq``.
    """
    letters = "".join(each for each in text[:_LONGEST].lower() if each.isascii() and each.isalnum())
    word, code = letters[:-LETTERS], letters[-LETTERS:].translate(_MEANT)
    if len(code) < LETTERS or not set(code) <= set(ALPHABET):
        return ""
    return f"{word}~{code}" if word else code


def written(identity: str) -> str:
    """The code of a class as it is shown: in groups of three, after the name of its server."""
    word, _, code = identity.rpartition("~")
    groups = [code[start : start + _GROUP] for start in range(0, len(code), _GROUP)]
    return "-".join([word, *groups] if word else groups)
