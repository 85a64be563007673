"""Sites: where in a model an op stands, by submodule, line and column."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import torch
from torch import nn

_OTHERS = (str(Path(torch.__file__).parent), str(Path(__file__).parents[2]))  # whose lines are nobody's model
WATCHED = "_watched_model"  # the attribute under which a module holds the one that it stands for


class Place(NamedTuple):
    """The submodule that runs, and the instruction of the model's code that calls it or calls in it.

    Attributes:
        module: its path.
        code, instruction: None and 0 where no code of the model's own does.
        within: whether that code runs in the submodule; otherwise it calls one of torch's.
    """

    module: str
    code: CodeType | None
    instruction: int
    within: bool


@dataclass(frozen=True)
class Site:
    """Where in a model an op stands.

    Attributes:
        module: the submodule that runs, by its path; "" for the model itself.
        op: the op's key, or the name of a Function class.
        function: the function of the model's code that calls; "" where torch's own module does.
        file, line, column: where that stands; 0 for no line.
        within: whether that code runs in the submodule; otherwise it calls one of torch's, such as nn.ReLU.
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
        """The names it goes by, the shortest first: "act1", "forward:15", "block.forward:15:8"."""
        if not self.function:
            return (self.module or self.op,)
        line, at = f"{self.function}:{self.line}", f":{self.column}"
        if not self.within:
            return (
                self.module,
                f"{self.module}@{line}",
                f"{self.module}@{line}{at}",
                f"{self.module}@{line}{at} {self.op}",
            )
        line = f"{self.module}.{line}" if self.module else line
        return line, f"{line}{at}", f"{line}{at} {self.op}"

    def __str__(self) -> str:
        return self.names[0]


def mark_of(module: object) -> int:
    """The identity of a module's own attributes, which a part of a swapped model shares with it."""
    return id(getattr(module, "__dict__", None))


def names_of(model: nn.Module) -> dict[int, str]:
    """The paths of a model's submodules, by mark; "" for the model, and for one that it stands for."""
    names = {mark_of(model): ""}
    while (own := model.__dict__.get(WATCHED)) is not None:
        model = own
        names[mark_of(model)] = ""
    for name, module in model.named_modules():
        one: nn.Module | None = module
        while one is not None:
            names[mark_of(one)] = name
            one = one.__dict__.get(WATCHED)
    return names


def _name_in(frame: FrameType, names: Mapping[int, str]) -> str | None:
    """The path of the submodule that runs in a frame; None where it is none of these."""
    if frame.f_code is resumed.__code__:
        return next((names[each] for each in frame.f_locals["origin"] if each in names), None)
    return names.get(mark_of(frame.f_locals.get("self")))


def place_of(names: Mapping[int, str], outer: FrameType | None = None) -> Place | None:
    """Where the running call stands in the model of these submodules; None outside it.

    ``outer``: the frame beyond which nothing of the model runs.
    """
    frame: FrameType | None = sys._getframe(2)
    module: str | None = None
    code, instruction, within = None, 0, True
    while frame is not None and frame is not outer:
        running = frame.f_code
        if code is None and not running.co_filename.startswith(_OTHERS):
            code, instruction = running, frame.f_lasti
        if running.co_varnames[:1] == ("self",) or running is resumed.__code__:
            name = _name_in(frame, names)
            if name is not None:
                if module is None:
                    module, within = name, code is not None
                if code is not None:
                    return Place(module, code, instruction, within)
        frame = frame.f_back
    return None if module is None else Place(module, None, 0, False)


def running_modules() -> tuple[int, ...]:
    """The marks of the modules that are running, the innermost first."""
    frame: FrameType | None = sys._getframe(2)
    running: dict[int, None] = {}
    while frame is not None:
        if frame.f_code.co_varnames[:1] == ("self",) and isinstance(
            own := frame.f_locals.get("self"), nn.Module
        ):
            running[mark_of(own)] = None
        frame = frame.f_back
    return (*running,)


def resumed(origin: tuple[int, ...], run: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function again, for which the modules that ran at first stand in its frame."""
    return run(*args, **kwargs)


def compiled(model: nn.Module) -> bool:
    """Whether a model, or a part of it, has been through torch.compile."""
    return any(
        type(each).__name__ == "OptimizedModule" or each.__dict__.get("_compiled_call_impl") is not None
        for each in model.modules()
    )


@lru_cache(maxsize=4096)
def site_of(place: Place, op: str) -> Site:
    """The site of an op at a place."""
    if place.code is None:
        return Site(place.module, op)
    line, _, column, _ = next(islice(place.code.co_positions(), place.instruction // 2, None))
    name = place.code.co_name.strip("<>")
    return Site(
        place.module,
        op,
        name,
        place.code.co_filename,
        line or place.code.co_firstlineno,
        column or 0,
        place.within,
    )
