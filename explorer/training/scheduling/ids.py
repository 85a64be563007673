"""Ids of runs and studies, which name the server that owns them: ``replica~server.engine-kind-number``."""

import os
import re
import secrets

REPLICA = "EXPLORER_REPLICA"  # environment variable: the id of this server among several behind one address
_WORD = re.compile(r"[a-z0-9]{1,16}")
_SERVER = secrets.token_hex(4)  # new at every start


def read_replica() -> str:
    """Return the id of this server among several, "" if it is the only one.

    Raises:
        ValueError: the environment variable is not 1 to 16 lower-case letters and digits.
    """
    word = os.environ.get(REPLICA, "")
    if word and not _WORD.fullmatch(word):
        raise ValueError(f"{REPLICA} must be 1 to 16 of a to z and 0 to 9, not {word!r}")
    return word


def replica_of(identity: str) -> str:
    """Return the replica that owns a run or study, "" if its id names none."""
    word, mark, _ = identity.partition("~")
    return word if mark and _WORD.fullmatch(word) else ""


def make_home_prefix() -> str:
    """Return the prefix of the ids of all runs and studies of this server."""
    word = read_replica()
    return f"{word}~{_SERVER}." if word else f"{_SERVER}."


class JobIds:
    """A generator of ids for one engine.

    Args:
        home: prefix of the engine's server; "" if all engines belong to one server.
    """

    def __init__(self, home: str = "") -> None:
        self._home = home
        self._engine = f"{home}{secrets.token_hex(4)}-"

    def create(self, kind: str) -> str:
        """Return an id for a job of this kind that cannot be guessed."""
        return f"{self._engine}{kind}-{secrets.token_hex(8)}"

    def explain_missing(self, identity: str, kind: str) -> str:
        """Return a clause that explains why the engine has no job of this kind and id."""
        if identity.startswith(self._engine):
            return f"This {kind} no longer exists"
        if identity.startswith(self._home):
            return f"The training process stopped unexpectedly, so this {kind} is lost"
        return f"The server was restarted, so this {kind} is lost"
