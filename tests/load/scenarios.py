"""Visitors, and the record of what they do."""

import asyncio
import random
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import numpy as np

from tests.load.http import Connection
from tests.load.visitor import Visitor, first_link, link

THINK_S = (3.0, 8.0)
STUDY = "task=circles&op=sign&rule=straight_through&rates=0.003,0.03&seeds=2&steps=20&hidden=4&batch=8"


@dataclass
class Tally:
    """Times by what was done, failures by their words, and numbers."""

    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    failures: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)

    async def timed(self, name: str, work: Any) -> Any:
        """The result of some work, its seconds written down; None where it fails."""
        begun = asyncio.get_running_loop().time()
        try:
            result = await work
        except (OSError, TimeoutError, ValueError, EOFError) as error:
            self.failures[f"{name}: {type(error).__name__} {error}"[:160]] += 1
            return None
        self.times[name].append(asyncio.get_running_loop().time() - begun)
        return result

    def rows(self) -> list[str]:
        """A line for each thing that was done."""
        rows = [f"{'what, seconds':34}{'median':>9}{'95 %':>9}{'longest':>9}{'n':>6}"]
        for name, seconds in self.times.items():
            middle, high, most = np.percentile(seconds, (50, 95, 100))
            rows.append(f"{name:34}{middle:9.3f}{high:9.3f}{most:9.3f}{len(seconds):6}")
        rows += [f"{name}: {count}" for name, count in self.counts.items()]
        return rows + [f"FAILED {count} × {words}" for words, count in self.failures.most_common(8)]


@dataclass
class Crowd:
    """Visitors of one server, for so many seconds."""

    address: str
    seconds: float
    tally: Tally = field(default_factory=Tally)
    training: str = "op=relu&rule=default"
    shown: tuple[str, ...] = ()

    @asynccontextmanager
    async def visit(self, page: str, query: str) -> AsyncIterator[Visitor | None]:
        """A page that is open meanwhile; None where it could not be opened."""
        visitor = Visitor(self.address, page, query)
        try:
            opened = await self.tally.timed("open a page", _true(visitor.open()))
            yield visitor if opened else None
        finally:
            await visitor.close()

    async def explore(self, seed: int, arrives_s: float = 0.0) -> None:
        """Change something now and then."""
        rng = random.Random(seed)
        await asyncio.sleep(arrives_s)
        async with self.visit("", link(rng)) as visitor:
            end = asyncio.get_running_loop().time() + self.seconds
            while visitor and asyncio.get_running_loop().time() < end:
                await asyncio.sleep(rng.uniform(*THINK_S))
                await self.tally.timed("change something", visitor.change(link(rng)))

    async def train(self, seed: int) -> None:
        """Watch a run at full pace to its end."""
        query = f"{self.training}&{urlencode({'seed': seed, 'pace': 'full'})}"
        async with self.visit("train", query) as visitor:
            words = (
                await self.tally.timed("start a run to its end", visitor.train(self.shown))
                if visitor
                else None
            )
        if words:
            self.tally.times["to the first picture"].append(words["first"])
            self.tally.times["pictures a second"].append(words["pictures"] / words["seconds"])
            self.tally.counts[f"ended {words['status']['state']} at step {words['status']['step']}"] += 1

    async def see_first(self, seed: int, together: asyncio.Barrier) -> None:
        """Ask for step 0 of settings that nobody else has, at once with others whose page is open."""
        visitor = Visitor(self.address, "train", first_link(seed))
        await visitor.http.get(f"/train?{visitor.query}")
        await together.wait()
        answer = await self.tally.timed("see step 0 on Train", visitor.see_step_0())
        self.tally.counts[f"step 0 {'drawn' if answer else 'not drawn'}"] += 1
        visitor.http.close()

    async def try_all(self, seed: int) -> None:
        """Open a page, change something three times, and see first steps of a run and of a study."""
        rng = random.Random(seed)
        async with self.visit("", link(rng)) as visitor:
            if visitor:
                for _ in range(3):
                    await self.tally.timed("change something", visitor.change(link(rng)))
                visitor.query = f"{self.training}&{urlencode({'seed': seed, 'pace': 'full'})}"
                await self.tally.timed("start a run and see it move", visitor.see_a_run_move())
                visitor.query = STUDY
                await self.tally.timed("start a study and see it move", visitor.see_a_study_move())

    async def probe(self) -> None:
        """Ask once a second whether the server is ready, as those who run it do."""
        while True:
            connection = Connection(self.address)
            await self.tally.timed("ask whether it is ready", connection.get("/readyz"))
            connection.close()
            await asyncio.sleep(1.0)

    async def hold(self, arrives_s: float) -> None:
        """Keep a page open and do nothing."""
        await asyncio.sleep(arrives_s)
        async with self.visit("", "") as visitor:
            self.tally.counts["pages held"] += visitor is not None
            await asyncio.sleep(self.seconds)


async def _true(work: Any) -> bool:
    await work
    return True
