"""A class that predicts together: its teacher and its students, as their browsers ask, without drawing."""

import asyncio
import json
import random
from contextlib import aclosing, suppress
from typing import Any

from tests.load.http import Connection
from tests.load.scenarios import Crowd
from tests.load.visitor import TIMEOUT_S, Visitor

LESSON = "straight-through"
POINTS = 300  # of a drawing, as the browser sends it
JOINING_S = 30.0  # in which the students come, evenly
REST_S = 2.0  # between what the teacher does


class Watched:
    """The events of a class as one of its pages is told them."""

    def __init__(self, address: str, path: str, cookie: str) -> None:
        self._connection, self._path = Connection(address), path
        self._connection.cookie = cookie
        self._told = asyncio.Condition()
        self._reading = asyncio.create_task(self._read())
        self.state: dict[str, Any] = {}

    async def until(self, **wanted: Any) -> None:
        """Wait until the state is so. Raises TimeoutError where it never is."""
        async with asyncio.timeout(TIMEOUT_S), self._told:
            await self._told.wait_for(lambda: wanted.items() <= self.state.items())

    async def _read(self) -> None:
        async with aclosing(self._connection.lines(self._path)) as events:
            async for event in events:
                if event.startswith(b"data: "):
                    self.state = json.loads(event[6:])
                    async with self._told:
                        self._told.notify_all()

    async def leave(self) -> None:
        """Close the connection."""
        self._reading.cancel()
        with suppress(asyncio.CancelledError, OSError, EOFError):
            await self._reading
        self._connection.close()


class Student:
    """A phone in a class: it enters by the code, opens the page and the lesson, and takes a seat."""

    def __init__(self, address: str, room: str) -> None:
        self._address, self._room = address, room
        self._visitor = Visitor(address, "learn", f"class={room}")
        self._guest = ""
        self.watched: Watched | None = None

    async def join(self) -> None:
        """Be in the class, as the first event tells it."""
        http = self._visitor.http
        with suppress(ConnectionError):
            await http.get(f"/c/{self._room}")
        if http.status != 303:
            raise ConnectionError(f"the code leads nowhere: {http.status}")
        await self._visitor.open()
        await http.ask("lesson", {"key": LESSON})
        self._guest = json.loads(await http.post(f"/classes/{self._room}/join", b'{"guest": ""}'))["guest"]
        path = f"/classes/{self._room}/events?guest={self._guest}"
        self.watched = Watched(self._address, path, http.cookie)
        await self.watched.until(state="open", revealed=False)

    async def send(self, rng: random.Random) -> None:
        """Send a drawing of as many digits as a browser sends, over a connection of its own after a rest.

        At a moment of its own in the time that the class is told, as a page does.
        """
        assert self.watched
        await asyncio.sleep(rng.random() * self.watched.state["spread_ms"] / 1000)
        self._visitor.http.close()
        drawn = [round(rng.uniform(-1, 2), 3) for _ in range(POINTS)]
        body = json.dumps({"guest": self._guest, "round": 1, "picked": None, "drawn": drawn})
        await self._visitor.http.post(f"/classes/{self._room}/answer", body.encode())

    async def sees_it_revealed(self) -> None:
        """Wait until the answers are revealed."""
        assert self.watched
        await self.watched.until(revealed=True)

    async def leave(self) -> None:
        """Close the page."""
        if self.watched:
            await self.watched.leave()
        await self._visitor.close()


class Teacher:
    """A browser that leads a class."""

    def __init__(self, address: str) -> None:
        self._address, self._http = address, Connection(address)

    async def open(self) -> str:
        """Open a class on a lesson that is on the screen; its id, which is its code as well."""
        await self._http.ask("lesson", {"key": LESSON})
        room = json.loads(await self._http.post("/classes", json.dumps({"lesson": LESSON}).encode()))
        self._room, self._secret = room["id"], room["secret"]
        self.watched = Watched(self._address, f"/classes/{self._room}/events?watch={room['watch']}", "")
        return str(self._room)

    async def reveal(self) -> int:
        """Reveal the answers; how many drawings the screen has then."""
        await self._command("reveal")
        await self.watched.until(revealed=True)
        return len((await self._command("drawings"))["drawings"])

    async def _command(self, name: str) -> Any:
        body = json.dumps({"secret": self._secret}).encode()
        return json.loads(await self._http.post(f"/classes/{self._room}/{name}", body))

    async def leave(self) -> None:
        """End the class."""
        await self._command("end")
        await self.watched.leave()
        self._http.close()


async def predict_together(crowd: Crowd, count: int) -> None:
    """A class comes, answers all at once, and sees the answers; how long each takes is written down."""
    teacher, timed, clock = Teacher(crowd.address), crowd.tally.timed, asyncio.get_running_loop().time
    room, rng = await teacher.open(), random.Random(0)
    students = [Student(crowd.address, room) for _ in range(count)]
    try:
        begun = clock()
        await asyncio.gather(*(_arrive(crowd, one, JOINING_S * n / count) for n, one in enumerate(students)))
        crowd.tally.times["until all have joined"].append(clock() - begun)
        here = [each for each in students if each.watched]
        await asyncio.sleep(REST_S)
        in_all = timed("until all drawings are in", teacher.watched.until(answered=len(here)))
        await asyncio.gather(in_all, *(timed("send a drawing", each.send(rng)) for each in here))
        await asyncio.sleep(REST_S)
        seen = [timed("until a student sees it revealed", each.sees_it_revealed()) for each in here]
        drawings, *_ = await asyncio.gather(timed("until the teacher has them", teacher.reveal()), *seen)
        crowd.tally.counts["drawings on the teacher's screen"] = drawings or 0
    finally:
        await teacher.leave()
        await asyncio.gather(*(each.leave() for each in students))


async def _arrive(crowd: Crowd, student: Student, after_s: float) -> None:
    await asyncio.sleep(after_s)
    await crowd.tally.timed("join", student.join())
