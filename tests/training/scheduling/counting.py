"""Studies that only count, in place of those that train."""

from dataclasses import dataclass, field

from tests.training.driving import Clock


@dataclass
class Counting:
    """A study of so many rows, one each slice; ``cost_s`` passes on the clock meanwhile."""

    rows: tuple[int, ...] = ()
    clock: Clock = field(default_factory=Clock)
    total: int = 12
    cost_s: float = 0.01

    @property
    def done(self) -> int:
        return len(self.rows)

    @property
    def finished(self) -> bool:
        return self.done == self.total

    def advance(self, seconds: float) -> tuple[int, ...]:
        self.clock.now += self.cost_s
        self.rows += (len(self.rows),)
        return self.rows[-1:]


@dataclass
class Chunk(Counting):
    """One whose rows come all at the end."""

    begun: int = 0

    @property
    def done(self) -> int:
        return self.begun

    def advance(self, seconds: float) -> tuple[int, ...]:
        self.clock.now += self.cost_s
        self.begun += 1
        return tuple(range(self.total)) if self.begun == self.total else ()


def make_counting(clock: Clock, **more):
    return lambda _plan, rows: Counting(tuple(rows), clock, **more)
