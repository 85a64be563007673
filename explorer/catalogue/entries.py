"""Read-only tables of ops and backward rules, with suggestions for unknown keys."""

import re
from collections.abc import Iterable, Iterator, Mapping, ValuesView
from itertools import chain
from typing import TypeVar

from explorer.catalogue.display import TORCH_OWN, make_html_table, make_text_table
from explorer.catalogue.records import Op, Rule
from explorer.formula import FUNCTIONS, quote, truncate
from explorer.formula.aliases import find_similar

Record = TypeVar("Record", Op, Rule)

_MIN_PREFIX = 3  # shorter prefixes of a key are not completed
_MAX_SUGGESTIONS = 3


class UnknownKeyError(KeyError):
    """Raised for an unknown key of an op or rule. Its message has no quotation marks, unlike KeyError's."""

    def __str__(self) -> str:
        return str(self.args[0])


class Entries(Mapping[str, Record]):
    """A read-only dict of ops or rules, displayed as a table of their keys, formulas and labels."""

    def __init__(self, entries: Iterable[Record]) -> None:
        self._entries: dict[str, Record] = {entry.key: entry for entry in entries}

    def __getitem__(self, key: str) -> Record:
        """Return the op or rule with a key. Raises UnknownKeyError, which suggests similar keys."""
        if key not in self:
            kinds = {type(entry).__name__.lower() for entry in self._entries.values()}
            keys = self.suggest_keys(truncate(str(key)))
            suggestion = f": did you mean {' or '.join(map(repr, keys))}?" if keys else ""
            raise UnknownKeyError(f"unknown {' or '.join(sorted(kinds))} {quote(key)}{suggestion}")
        return self._entries[key]

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._entries)

    def values(self) -> ValuesView[Record]:
        """Return a view of the ops or rules that can be reversed, like the view of a dict."""
        return self._entries.values()

    def _list_rows(self) -> list[tuple[str, str, str]]:
        return [(entry.key, entry.formula or TORCH_OWN, entry.label) for entry in self.values()]

    def __repr__(self) -> str:
        return make_text_table(self._list_rows())

    def _repr_html_(self) -> str:
        return make_html_table(self._list_rows())

    def find_spelling(self, word: str) -> str:
        """Return the key of the op or rule that a word names in another spelling.

        Keys and labels go before alternative names. Returns "" unless exactly one matches. Case, blanks,
        hyphens and -ise for -ize are ignored.
        """
        named = [entry.key for entry in self.values() if is_spelling(word, (entry.key, entry.label))]
        keys = named or [entry.key for entry in self.values() if is_spelling(word, entry.also)]
        return keys[0] if len(keys) == 1 else ""

    def suggest_keys(self, word: str) -> list[str]:
        """Return up to three keys that an unknown word may mean, or an empty list if none is likely.

        Exact names come first, then names with this prefix, then names of which the word may be a
        misspelling, with the same first letter and digits. A function's name never suggests another.
        """
        wanted, names = _normalize_name(word), self._collect_names()
        if wanted not in names and wanted in FUNCTIONS:
            names = {name: keys for name, keys in names.items() if name not in FUNCTIONS}
        prefixed = [name for name in names if name.startswith(wanted) and len(wanted) >= _MIN_PREFIX]
        matches = [wanted] if wanted in names else prefixed or find_similar(wanted, names, _MAX_SUGGESTIONS)
        return list(dict.fromkeys(key for name in matches for key in names[name]))[:_MAX_SUGGESTIONS]

    def _collect_names(self) -> dict[str, list[str]]:
        """Return a dict from each normalized key, label and alternative name to the keys that it may mean."""
        names: dict[str, list[str]] = {}
        for entry in self.values():
            for text in chain([entry.key, entry.label], entry.also):
                names.setdefault(_normalize_name(text), []).append(entry.key)
        return names


def is_spelling(word: str, names: Iterable[str]) -> bool:
    """Return whether a word is one of some names, ignoring case, blanks, hyphens and -ise for -ize."""
    return _normalize_spelling(word) in map(_normalize_spelling, names)


def _normalize_spelling(name: str) -> str:
    return re.sub(r"iz(?=e|ing|ation)", "is", _normalize_name(name))


def _normalize_name(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()
