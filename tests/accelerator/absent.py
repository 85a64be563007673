"""Stand-ins for packages that are not installed, so that the rest of the explorer can be tried."""

import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

PACKAGES = (
    *("black", "brotli", "distributed", "latex2mathml", "pandas", "plotly", "prometheus_client"),
    *("safetensors", "scipy", "segno", "sklearn", "starlette", "streamlit", "tqdm"),
)


class _Absent(ModuleType):
    """A module that is not there: whatever is taken from it can be named, and not called."""

    __path__: Sequence[str] = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def refuse(*_args: Any, **_kwargs: Any) -> Any:
            raise ImportError(f"{self.__name__.partition('.')[0]} is not installed here")

        return type(name, (), {"__new__": refuse, "__class_getitem__": lambda cls, _item: cls})


class _Finder(MetaPathFinder, Loader):
    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def find_spec(self, name: str, *_: Any) -> ModuleSpec | None:
        return ModuleSpec(name, self, is_package=True) if name.partition(".")[0] in self._names else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Absent(spec.name)

    def exec_module(self, _module: ModuleType) -> None:
        pass


def is_there(package: str) -> bool:
    spec = importlib.util.find_spec(package)
    return spec is not None and not isinstance(spec.loader, _Finder)


def fill_in() -> list[str]:
    """Put stand-ins in the place of packages that are not installed, and return their names."""
    names = [name for name in PACKAGES if not is_there(name)]
    sys.meta_path.append(_Finder(names))
    return names
