"""Ids of runs and studies, which name the server that owns them: ``replica~server.engine-kind-number``."""

import os
import re
import secrets

REPLICA = "EXPLORER_REPLICA"  # environment variable: this server's name among several at one address
_WORD = re.compile(r"[a-z0-9]{1,16}")
_SERVER = secrets.token_hex(4)  # random at each start of the server


def read_replica() -> str:
    """Return this server's name among several servers, or "" if it is the only one.

    Raises:
        ValueError: if the environment variable is not 1 to 16 lower-case letters and digits.
    """
    word = os.environ.get(REPLICA, "")
    if word and not _WORD.fullmatch(word):
        raise ValueError(f"{REPLICA} must consist of 1 to 16 lower-case letters and digits, not {word!r}")
    return word


def parse_replica(identity: str) -> str:
    """Return the name of the server that owns a run or study, or "" if the id names none."""
    word, mark, _ = identity.partition("~")
    return word if mark and _WORD.fullmatch(word) else ""


def make_home_prefix() -> str:
    """Return the prefix that the ids of all runs and studies of this server have in common."""
    word = read_replica()
    return f"{word}~{_SERVER}." if word else f"{_SERVER}."


class JobIds:
    """A generator of ids for the runs and studies of one engine.

    Args:
        home: prefix of the engine's server; "" if all engines belong to one server.
    """

    def __init__(self, home: str = "") -> None:
        self._home = home
        self._engine = f"{home}{secrets.token_hex(4)}-"

    def create(self, kind: str) -> str:
        """Return a new random id, which cannot be guessed, for a job of this kind."""
        return f"{self._engine}{kind}-{secrets.token_hex(8)}"

    def explain_missing(self, identity: str, kind: str) -> str:
        """Return a clause that explains why no job of this kind with this id exists."""
        if identity.startswith(self._engine):
            return f"This {kind} no longer exists"
        if identity.startswith(self._home):
            return f"The training process stopped unexpectedly, so this {kind} is lost"
        return f"The server was restarted, so this {kind} is lost"
