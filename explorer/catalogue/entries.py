"""The catalogue's tables: read-only, readable in a notebook, and helpful about a key they do not hold."""

import re
from collections.abc import Iterable, Iterator, Mapping, ValuesView
from typing import TypeVar

from explorer.catalogue.display import TORCH_OWN, html_table, text_table
from explorer.catalogue.records import Entry, Op, Rule
from explorer.formula import FUNCTIONS, quoted, shortened
from explorer.formula.aliases import alike

Record = TypeVar("Record", Op, Rule)

_BEGINNING = 3  # letters that tell what a name begins with
_MOST_HINTS = 3


class UnknownKeyError(KeyError):
    """A key that no entry has; unlike KeyError's own its message is shown without quotation marks."""

    def __str__(self) -> str:
        return str(self.args[0])


class Entries(Mapping[str, Record]):
    """Entries by key, in the picker's order; shown as a table of key, formula and label."""

    def __init__(self, entries: Iterable[Record]) -> None:
        self._entries: dict[str, Record] = {entry.key: entry for entry in entries}

    def __getitem__(self, key: str) -> Record:
        """The entry of a key; raises KeyError with the keys that may be meant."""
        if key not in self:
            raise UnknownKeyError(self._unknown(key))
        return self._entries[key]

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key in self._entries

    def _unknown(self, key: object) -> str:
        kinds = {type(entry).__name__.lower() for entry in self._entries.values()}
        meant = self.meant(shortened(str(key)))
        suggestion = f": did you mean {' or '.join(map(repr, meant))}?" if meant else ""
        return f"unknown {' or '.join(sorted(kinds))} {quoted(key)}{suggestion}"

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

    def find_spelling(self, word: str) -> str:
        """Return the key of the one entry whose key or label is ``word``; "" where none or several fit.

        Case, blanks, hyphens and the difference between -ise and -ize do not count.
        """
        fits = [
            entry.key
            for entry in self.values()
            if _british(word) in {_british(entry.key), _british(entry.label)}
        ]
        return fits[0] if len(fits) == 1 else ""

    def meant(self, word: str) -> list[str]:
        """At most three keys that ``word`` may mean; [] where that would be a guess.

        First an exact name, then the beginning of a name, then a misspelling that leaves the first letter
        and the digits right. No function is ever taken for another one.
        """
        wanted, names = _plain(word), self._names()
        if wanted not in names and wanted in FUNCTIONS:
            names = {name: keys for name, keys in names.items() if name not in FUNCTIONS}
        begun = [name for name in names if name.startswith(wanted) and len(wanted) >= _BEGINNING]
        matches = [wanted] if wanted in names else begun or alike(wanted, names, _MOST_HINTS)
        return list(dict.fromkeys(key for name in matches for key in names[name]))[:_MOST_HINTS]

    def _names(self) -> dict[str, list[str]]:
        """Plain name -> keys, for every key, label and other name."""
        names: dict[str, list[str]] = {}
        for key, entry in self.items():
            for name in _names_of(entry):
                names.setdefault(name, []).append(key)
        return names


def _names_of(entry: Entry) -> list[str]:
    return list(dict.fromkeys(map(_plain, (entry.key, entry.label, *entry.also))))


def _british(name: str) -> str:
    """Return the name without case, blanks and hyphens, and with s for the z of -ize, -izer and -ization."""
    return re.sub(r"iz(?=e|ing|ation)", "is", _plain(name))


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()
