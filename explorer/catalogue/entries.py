"""The catalogue's tables: read-only, readable in a notebook, and helpful about a key they do not hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, ValuesView
from difflib import get_close_matches
from typing import TypeVar

from explorer.catalogue.display import TORCH_OWN, html_table, text_table
from explorer.catalogue.records import Entry, Op, Rule
from explorer.formula import FUNCTIONS

Record = TypeVar("Record", Op, Rule)

_ALIKE = 0.8  # "rond" and "round" are at 0.89, "prelu" and "selu" at 0.67
_SHORTEST = 4  # letters: between shorter names one letter makes another function
_BEGINNING = 3  # letters that tell what a name begins with
_MOST_HINTS = 3


class Entries(Mapping[str, Record]):
    """Entries by key, in the picker's order; shown as a table of key, formula and label."""

    def __init__(self, entries: Iterable[Record]) -> None:
        self._entries: dict[str, Record] = {entry.key: entry for entry in entries}

    def __getitem__(self, key: str) -> Record:
        return self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._entries)

    def values(self) -> ValuesView[Record]:
        """The entries; unlike a plain Mapping's they can be reversed, as a dict's."""
        return self._entries.values()

    def _rows(self) -> list[tuple[str, str, str]]:
        return [(entry.key, entry.formula or TORCH_OWN, entry.label) for entry in self.values()]

    def __repr__(self) -> str:
        return text_table(self._rows())

    def _repr_html_(self) -> str:
        return html_table(self._rows())

    def meant(self, word: str) -> list[str]:
        """The keys somebody may mean who wrote ``word``, at most three; [] where that would be a guess.

        First a name people know an entry by, then what a name begins with, then a slip of the pen that
        leaves the first letter and the digits right. No function is ever taken for another one.
        """
        wanted, names = _plain(word), self._names()
        if wanted not in names and wanted in FUNCTIONS:
            names = {name: keys for name, keys in names.items() if name not in FUNCTIONS}
        begun = [name for name in names if name.startswith(wanted) and len(wanted) >= _BEGINNING]
        found = [wanted] if wanted in names else begun or _misspelt(wanted, names)
        return list(dict.fromkeys(key for name in found for key in names[name]))[:_MOST_HINTS]

    def _names(self) -> dict[str, list[str]]:
        """Plain name -> keys, for every key, label and other name."""
        names: dict[str, list[str]] = {}
        for key, entry in self.items():
            for name in _names_of(entry):
                names.setdefault(name, []).append(key)
        return names


def _names_of(entry: Entry) -> list[str]:
    return list(dict.fromkeys(map(_plain, (entry.key, entry.label, *entry.also))))


def _misspelt(wanted: str, names: Iterable[str]) -> list[str]:
    def is_near(name: str) -> bool:
        return name[0] == wanted[0] and _digits(name) == _digits(wanted) and len(name) >= _SHORTEST

    if len(wanted) < _SHORTEST:
        return []
    return get_close_matches(wanted, filter(is_near, names), _MOST_HINTS, _ALIKE)


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()


def _digits(name: str) -> str:
    return re.sub(r"\D", "", name)
