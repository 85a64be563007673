"""Instruments: measurements of the neural nets of a training run at one step, one per module."""

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from explorer.training.instruments.base.instrument import (
    Instrument,
    Nets,
    Record,
    Recorded,
    Requested,
    Visible,
)

_modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
_entries: list[Instrument] = [module.INSTRUMENT for module in _modules if hasattr(module, "INSTRUMENT")]

INSTRUMENTS: Mapping[str, Instrument] = MappingProxyType({entry.key: entry for entry in _entries})
"""All instruments by key: each file here that ends with an ``INSTRUMENT``."""
