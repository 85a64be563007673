"""Codes for joining a class. The codes are short enough to type, and too many to guess one."""

import secrets

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32, which has no i, l, o and u
CODE_LENGTH = 9  # long enough for 100 open classes: a test computes the chance of guessing one
_GROUP = 3
_LOOKALIKES = str.maketrans("ilo", "110")
_MAX_INPUT_LENGTH = 64  # further characters are ignored


def make_code() -> str:
    """Return a random code for joining a class."""
    return "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))


def identity_of(text: str) -> str:
    """Return the id of the class for a code as typed by a student, or "" for an invalid code.

    Case and punctuation are ignored. The id begins with the name of a server if the code does:
    ``first-k7m-x2p-wrq`` becomes ``first~k7mx2pwrq``.
    """
    letters = "".join(char for char in text[:_MAX_INPUT_LENGTH].lower() if char.isascii() and char.isalnum())
    server, code = letters[:-CODE_LENGTH], letters[-CODE_LENGTH:].translate(_LOOKALIKES)
    if len(code) < CODE_LENGTH or not set(code) <= set(ALPHABET):
        return ""
    return f"{server}~{code}" if server else code


def format_code(identity: str) -> str:
    """Return a class's id as a code for display, with hyphens between groups of three characters.

    The name of the class's server comes first, if the id contains one.
    """
    server, _, code = identity.rpartition("~")
    groups = [code[start : start + _GROUP] for start in range(0, len(code), _GROUP)]
    return "-".join([server, *groups] if server else groups)
