"""Sites: the places of torch calls in a model, by submodule, line and column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

import torch
from torch import nn

Lines = tuple[tuple[CodeType, int], ...]  # the code and the instruction of some frames, innermost first

FOREIGN_FOLDERS = (str(Path(torch.__file__).parent), str(Path(__file__).parents[2]))
"""The folders whose lines belong to no model: torch's and ours."""


@cache
def is_foreign(filename: str) -> bool:
    """Return whether a source file belongs to torch or the explorer, and therefore not to a model."""
    return filename.startswith(FOREIGN_FOLDERS)


@dataclass(frozen=True)
class Site:
    """The place of a call in a model.

    Attributes:
        module: the path of the running submodule; "" for the model itself.
        op: the key of the op, or the name of the called function or Function class.
        function: the name of the model's function that contains the call; "" if there is none.
        file, line, column: the position of the call; 0 for no line.
        within: whether that function runs in the submodule. Otherwise it calls a torch module, such as
            nn.ReLU.
    """

    module: str
    op: str
    function: str = ""
    file: str = ""
    line: int = 0
    column: int = 0
    within: bool = True

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the site, shortest first: "act1", "forward:15", "block.forward:15:8"."""
        if not self.function:
            return (self.module or self.op, f"{self.module}.{self.op}")
        line = f"{self.function}:{self.line}"
        line = f"{self.module}{'.' if self.within else '@'}{line}" if self.module or not self.within else line
        names = line, f"{line}:{self.column}", f"{line}:{self.column} {self.op}"
        return names if self.within else (self.module, *names)

    def __str__(self) -> str:
        return self.names[0]


def name_sites(sites: Iterable[tuple[Site, str]], given: str = "") -> list[str]:
    """Return a unique name for each pair of a site and a word: the shortest name of the site that is free.

    The name ``given`` comes first for a site that has it. If no name is free, the word follows the longest.
    """
    pairs, named = [*sites], list[str]()
    counts = Counter(name for site in {site for site, _ in pairs} for name in {*site.names})
    for site, word in pairs:
        choices = sorted(site.names, key=lambda name: name != given)
        free = (name for name in choices if (counts[name] == 1 or name == given) and name not in named)
        named.append(next(free, f"{site.names[-1]} {word}"))
    return named


class Place(NamedTuple):
    """Where the code runs that is calling torch: the submodule and the lines of the model's source.

    Attributes:
        path: the path of the submodule; None outside the model.
        own: whether the submodule's class is torch's own.
        lines: the model's frames.
    """

    path: str | None
    own: bool
    lines: Lines


_SITES: dict[tuple[Any, ...], tuple[CodeType | None, Site]] = {}  # hashing a code object itself is slow
_MOST_SITES = 20_000


def find_site(place: Place, lines: Lines, op: str) -> Site:
    """Return the site of an op that is called at a place. Its name comes from the first of ``lines``."""
    code, instruction = lines[0] if lines else (None, 0)
    key = place.path, place.own, id(code), instruction, op
    entry = _SITES.get(key)
    if entry is None or entry[0] is not code:
        site = Site(place.path or "", op)
        if code is not None:
            line, _, column, _ = next(islice(code.co_positions(), instruction // 2, None))
            name, line = code.co_name.strip("<>"), line or code.co_firstlineno
            site = Site(site.module, op, name, code.co_filename, line, column or 0, not place.own)
        if len(_SITES) > _MOST_SITES:
            _SITES.clear()
        entry = _SITES[key] = code, site
    return entry[1]


def mark_of(module: object) -> int:
    """Return a number that identifies a module, and is the same for its swapped version."""
    return id(getattr(module, "__dict__", None))


def paths_of(model: nn.Module) -> dict[int, tuple[str, bool]]:
    """Return (path, whether the class is torch's or the explorer's) for each submodule, by ``mark_of``."""
    return {
        mark_of(module): (name, type(module).__module__.startswith(("torch.nn.", "explorer.")))
        for name, module in model.named_modules()
    }


def require_model(name: str, model: object) -> None:
    """Raise ValueError unless the argument is an nn.Module. ``name`` is the function for the message."""
    if isinstance(model, type) and issubclass(model, nn.Module):
        raise ValueError(f"{name} takes a model, not its class: make one first, {model.__name__}(…)")
    if not isinstance(model, nn.Module):
        raise ValueError(f"{name} takes a model, an nn.Module, not a {type(model).__name__}")
