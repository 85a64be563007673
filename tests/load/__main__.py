"""A class on one server: ``python -m tests.load http://127.0.0.1:8501 200 explore``; prints a table.

explore  N visitors change something every 3 to 8 seconds
train    N visitors each watch a run at full pace to its end, while three explore
first    N visitors ask at once for step 0 of a training, each of settings of their own; with --settings 1
         all of the same ones, as a class that opens one link
open     N pages are held open
class    N students join a class within half a minute, draw, send it all at once and see the answers, while
         one visitor explores for each fifteen of them
flood    N visitors explore, while one sends 200 reruns and 200 requests a second
fault    N visitors explore, while connections come, ask for nonsense and break off
attack   N visitors come one after another, change something three times, start a run and a study, while
         one attacker holds 670 connections: silent pages, invented owners, forged cookies, heavy
         formulas, files to keep, and tables, settings and formulas that are far too long; with --names 60
         as many more have names signed at an address of their own, and start studies

Only a server of this machine is asked.
"""

import argparse
import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from urllib.parse import urlsplit

from tests.load.attack import CONNECTIONS, NAMES, attacking
from tests.load.classroom import predict_together
from tests.load.http import Connection
from tests.load.machine import figures
from tests.load.scenarios import Crowd

ARRIVALS_S = 0.05  # between two visitors
_LOCAL = ("127.0.0.1", "localhost")
_MOST = 400
_LONGEST_S = 300.0
SCENARIOS = ("explore", "train", "first", "open", "class", "flood", "fault", "attack")


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
    works = [crowd.explore(number, ARRIVALS_S * number) for number in range(count)]
    if name == "flood":
        works.append(crowd.flood())
    elif name == "fault":
        works.append(nonsense(crowd))
    await asyncio.gather(*works)


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


async def attacked(crowd: Crowd, count: int, before_s: float, scale: float, names: int) -> None:
    """Visitors who come one after another, after so many seconds of an attack that goes on."""
    async with attacking(crowd.address, scale, names) as counts:
        await asyncio.sleep(before_s)
        probing = asyncio.create_task(crowd.probe())
        for number in range(count):
            await crowd.try_all(number)
        probing.cancel()
        await asyncio.gather(probing, return_exceptions=True)
    crowd.tally.counts.update(counts)


async def nonsense(crowd: Crowd) -> None:
    """Some times a second: requests that are none, runs that are not there, connections that break off."""
    paths = ["/?op=%00&g=1e999", "/runs/none/events", "/ask/nothing", "/assets/none", "/entry?kind=x"]
    end = asyncio.get_running_loop().time() + crowd.seconds
    server = urlsplit(crowd.address)
    while asyncio.get_running_loop().time() < end:
        for path in paths:
            connection = Connection(crowd.address)
            with suppress(OSError):
                await connection.get(path)
            crowd.tally.counts[f"nonsense answered {connection.status}"] += 1
            connection.close()
        _, writer = await asyncio.open_connection(server.hostname, server.port)
        writer.write(b"GET / HTTP/1.1\r\nHost: loc")
        writer.close()
        await asyncio.sleep(0.1)


def told(pid: int | None) -> str:
    """The figures of a process and its children, in one line."""
    return "; ".join(map(str, figures(pid))) if pid else ""


def main() -> None:
    """Run what is asked for."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("address")
    options.add_argument("count", type=int, help=f"visitors, at most {_MOST}")
    options.add_argument("scenario", choices=SCENARIOS)
    options.add_argument("--seconds", type=float, default=30.0, help="each visitor stays, at most 300 (30)")
    options.add_argument(
        "--training", default="op=relu&rule=default", help="what they train, as in a link (%(default)s)"
    )
    options.add_argument("--show", nargs="*", default=(), help="instruments they watch, such as causes")
    options.add_argument(
        "--scale", type=float, default=1.0, help=f"of the attacker's {CONNECTIONS} connections (1)"
    )
    options.add_argument(
        "--names", type=int, default=0, help=f"connections of names signed; {NAMES} to compare (0)"
    )
    options.add_argument("--before", type=float, default=5.0, help="seconds of attack before who comes (5)")
    options.add_argument("--settings", type=int, default=0, help="different ones at first (one a visitor)")
    options.add_argument("--pid", type=int, help="of the server, to see its memory and threads")
    options.add_argument("--after", type=float, default=0.0, help="seconds until they are seen once more")
    given = options.parse_args()
    if urlsplit(given.address).hostname not in _LOCAL or given.count > _MOST or given.seconds > _LONGEST_S:
        options.error(f"a server of this machine, {_MOST} visitors and 300 seconds are the most")
    crowd = Crowd(given.address.rstrip("/"), given.seconds, training=given.training, shown=tuple(given.show))
    begun, before = time.monotonic(), told(given.pid)
    if given.scenario == "attack":
        work = attacked(crowd, given.count, given.before, given.scale, given.names)
    else:
        work = scenario(given.scenario, crowd, given.count, given.settings)
    asyncio.run(work)
    print(f"{given.count} visitors, {given.scenario}, {time.monotonic() - begun:.0f} s")
    print("\n".join(crowd.tally.rows()))
    if given.pid:
        print(f"before: {before}\nat the end: {told(given.pid)}")
        time.sleep(given.after)
        print(f"{given.after:.0f} s later: {told(given.pid)}")
        if crowd.runs:
            print(f"runs left: {asyncio.run(crowd.runs_left())} of {len(crowd.runs)}")


if __name__ == "__main__":
    main()
