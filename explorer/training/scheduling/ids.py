"""The names of runs and studies, which tell where they live: ``replica~server.engine-kind-number``."""

import os
import re
import secrets

REPLICA = (
    "EXPLORER_REPLICA"  # the environment variable: what this server is called among several behind one name
)
_WORD = re.compile(r"[a-z0-9]{1,16}")
_SERVER = secrets.token_hex(4)  # another one after every start


def replica() -> str:
    """The name of this server among several, "" where it is the only one.

    Raises:
        ValueError: the environment has another word than one of 1 to 16 small letters and digits.
    """
    word = os.environ.get(REPLICA, "")
    if word and not _WORD.fullmatch(word):
        raise ValueError(f"{REPLICA} must be 1 to 16 of a to z and 0 to 9, not {word!r}")
    return word


def replica_of(identity: str) -> str:
    """The replica on which a run or study lives, "" where its name tells none."""
    word, mark, _ = identity.partition("~")
    return word if mark and _WORD.fullmatch(word) else ""


def home() -> str:
    """The prefix of the names of all runs and studies of this server."""
    word = replica()
    return f"{word}~{_SERVER}." if word else f"{_SERVER}."


class Names:
    """The names that one engine gives.

    Args:
        home: of the server that the engine works for; without one all engines are of one server.
    """

    def __init__(self, home: str = "") -> None:
        self._home = home
        self._engine = f"{home}{secrets.token_hex(4)}-"

    def new(self, kind: str) -> str:
        """Return a name that nobody guesses, for a job of this kind."""
        return f"{self._engine}{kind}-{secrets.token_hex(8)}"

    def why_gone(self, identity: str, kind: str) -> str:
        """Return why the engine has no job of this kind and name, as a clause."""
        if identity.startswith(self._engine):
            return f"This {kind} is gone"
        if identity.startswith(self._home):
            return f"The training process stopped unexpectedly and this {kind} is lost"
        return f"The server was started anew and this {kind} is lost"
