"""A class on one server: ``python -m tests.load http://127.0.0.1:8501 200 explore``; prints a table.

explore  N visitors change something every 3 to 8 seconds
train    N visitors each watch a run at full pace to its end, while three explore
first    N visitors ask at once for step 0 of a training, each of settings of their own; with --settings 1
         all of the same ones, as a class that opens one link
open     N pages are held open
class    N students join a class within half a minute, draw, send it all at once and see the answers, while
         one visitor explores for each fifteen of them
attack   N visitors come one after another, change something three times, start a run and a study, while
         one attacker holds 670 connections: silent pages, invented owners, forged cookies, heavy
         formulas, files to keep, and tables, settings and formulas that are far too long

Only a server of this machine is asked.
"""

import argparse
import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from urllib.parse import urlsplit

from tests.load.attack import CONNECTIONS, attacking
from tests.load.classroom import predict_together
from tests.load.scenarios import Crowd

ARRIVALS_S = 0.05  # between two visitors
_LOCAL = ("127.0.0.1", "localhost")
_MOST = 400
_LONGEST_S = 300.0
SCENARIOS = ("explore", "train", "first", "open", "class", "attack")


async def scenario(name: str, crowd: Crowd, count: int, settings: int = 0) -> None:
    """Let the visitors do what they came for, and leave."""
    if name == "open":
        await asyncio.gather(*(crowd.hold(ARRIVALS_S * number) for number in range(count)))
        return
    if name == "train":
        async with exploring(crowd, 3):
            await asyncio.gather(*(crowd.train(number) for number in range(count)))
        return
    if name == "first":
        together = asyncio.Barrier(count)
        seeds = [number % (settings or count) for number in range(count)]
        await asyncio.gather(*(crowd.see_first(seed, together) for seed in seeds))
        return
    if name == "class":
        async with exploring(crowd, max(1, count // 15)):
            await predict_together(crowd, count)
        return
    await asyncio.gather(*(crowd.explore(number, ARRIVALS_S * number) for number in range(count)))


@asynccontextmanager
async def exploring(crowd: Crowd, count: int) -> AsyncIterator[None]:
    """Other visitors explore meanwhile, however long that takes."""
    staying = replace(crowd, seconds=_LONGEST_S)
    others = [asyncio.create_task(staying.explore(number)) for number in range(count)]
    try:
        yield
    finally:
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)


async def attacked(crowd: Crowd, count: int, before_s: float, scale: float) -> None:
    """Visitors who come one after another, after so many seconds of an attack that goes on."""
    async with attacking(crowd.address, scale) as counts:
        await asyncio.sleep(before_s)
        probing = asyncio.create_task(crowd.probe())
        for number in range(count):
            await crowd.try_all(number)
        probing.cancel()
        await asyncio.gather(probing, return_exceptions=True)
    crowd.tally.counts.update(counts)


def main() -> None:
    plain = argparse.RawDescriptionHelpFormatter
    options = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    options.add_argument("address")
    options.add_argument("count", type=int, help=f"visitors, at most {_MOST}")
    options.add_argument("scenario", choices=SCENARIOS)
    options.add_argument("--seconds", type=float, default=30.0, help="each visitor stays, at most 300 (30)")
    options.add_argument(
        "--scale", type=float, default=1.0, help=f"of the attacker's {CONNECTIONS} connections (1)"
    )
    options.add_argument("--before", type=float, default=5.0, help="seconds of attack before who comes (5)")
    options.add_argument("--settings", type=int, default=0, help="different ones at first (one a visitor)")
    given = options.parse_args()
    if urlsplit(given.address).hostname not in _LOCAL or given.count > _MOST or given.seconds > _LONGEST_S:
        options.error(f"a server of this machine, {_MOST} visitors and 300 seconds are the most")
    crowd, begun = Crowd(given.address.rstrip("/"), given.seconds), time.monotonic()
    if given.scenario == "attack":
        work = attacked(crowd, given.count, given.before, given.scale)
    else:
        work = scenario(given.scenario, crowd, given.count, given.settings)
    asyncio.run(work)
    print(f"{given.count} visitors, {given.scenario}, {time.monotonic() - begun:.0f} s")
    print("\n".join(crowd.tally.rows()))


if __name__ == "__main__":
    main()
