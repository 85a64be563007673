"""The files of a deployment, as far as they can be read here."""

import fnmatch
import json
import re
import shlex
from typing import NamedTuple

from tests.browser.server import ROOT


class Instruction(NamedTuple):
    """One of a Dockerfile: such as COPY, and what follows."""

    name: str
    rest: str

    @property
    def words(self) -> list[str]:
        """The words behind it, as JSON or as a shell would split them."""
        return json.loads(self.rest) if self.rest.startswith("[") else shlex.split(self.rest)


def dockerfile() -> list[Instruction]:
    """The instructions of the image, without those of the stages before it."""
    every = instructions()
    return every[max(number for number, each in enumerate(every) if each.name == "FROM") :]


def instructions() -> list[Instruction]:
    text = re.sub(r"^\s*#.*\n|\\\n", "", (ROOT / "Dockerfile").read_text("utf-8"), flags=re.MULTILINE)
    lines = (line.strip().partition(" ") for line in text.splitlines() if line.strip())
    return [Instruction(name, rest.strip()) for name, _, rest in lines]


def the(name: str) -> Instruction:
    """The one instruction of a name."""
    (one,) = (each for each in dockerfile() if each.name == name)
    return one


def command() -> list[str]:
    return the("CMD").words


def is_of_a_stage(copy: Instruction) -> bool:
    """Whether a COPY takes from another stage."""
    return copy.rest.startswith("--from=")


def is_sent(source: str) -> bool:
    """Whether a source is sent to who builds the image."""
    lines = (ROOT / ".dockerignore").read_text("utf-8").split()
    last = [line for line in lines if fnmatch.fnmatch(source, line.removeprefix("!"))][-1]
    return last.startswith("!")
