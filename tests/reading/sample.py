"""A published Function in these tests."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Sample:
    """A source, how it is called besides x, and the values of the formula's parameters that say the same."""

    name: str
    source: str
    arguments: tuple[object, ...] = ()
    parameters: dict[str, float] = field(default_factory=dict)
    old: bool = False  # instance style, which torch itself no longer runs
