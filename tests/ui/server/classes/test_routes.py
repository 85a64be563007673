"""The routes of classes: who may do what, what a student may send, and where a code leads."""

import asyncio
import json
from typing import Any

import pytest

from explorer.lessons import LESSONS
from explorer.ui.server.admission import replicas
from explorer.ui.server.classes import invitation, routes, stream
from explorer.ui.server.classes.classes import MAX_AGE_S, UNKNOWN_CODE_MESSAGE, Classes
from explorer.ui.server.classes.predictions import MAX_BODY_BYTES
from tests.ui.asgi import Answer, Client
from tests.ui.server.classes.rooms import Clock

LESSON = "straight-through"
DRAWN = [0.5] * 300
CLIENT = Client(routes.ROUTES)
posted, got = CLIENT.post, CLIENT.get


def events_of(answer: Answer) -> list[Any]:
    return [json.loads(part[6:]) for part in answer.body.split(b"\n\n") if part.startswith(b"data: ")]


def first_event(target: str) -> Any:
    return events_of(got(target))[0]


def seat(room: Any, name: str) -> str:
    answer = posted(f"/classes/{room['id']}/join", {"guest": ""}, name=name)
    assert answer.status == 200
    return answer.data["guest"]


def commanded(room: Any, command: str, **more: Any) -> Answer:
    return posted(f"/classes/{room['id']}/{command}", {"secret": room["secret"], **more})


def answered(room: Any, guest: str, number: int = 1, **prediction: Any) -> Answer:
    return posted(f"/classes/{room['id']}/answer", {"guest": guest, "round": number, **prediction})


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(autouse=True)
def classes(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> Classes:
    fresh = Classes(clock)
    monkeypatch.setattr(routes, "classes", fresh)
    return fresh


@pytest.fixture
def room(classes: Classes) -> Any:
    return posted("/classes", {"lesson": LESSON}, name="teacher").data


def test_a_class_is_opened_led_and_ended(room: Any, classes: Classes):
    assert room["pages"] == ["/", "/train"]
    watch = f"/classes/{room['id']}/events?watch={room['watch']}"
    assert first_event(watch) == {
        "state": "open", "lesson": LESSON, "round": 1, "revealed": False, "links": 0,
        "here": 0, "answered": 0, "counts": None, "drawn": None,
    }  # fmt: skip
    one, other = seat(room, "one"), seat(room, "other")
    assert answered(room, one, drawn=DRAWN).status == 200
    assert answered(room, other, picked=0).status == 200
    assert commanded(room, "drawings").data == {"drawings": []}
    assert first_event(watch)["answered"] == 2
    assert commanded(room, "reveal").status == 200
    assert answered(room, one, picked=0).status == 409
    assert first_event(watch)["counts"] == [1, 0, 0]
    (drawn,) = commanded(room, "drawings").data["drawings"]
    assert drawn["dtype"] == "f4"
    mine = first_event(f"/classes/{room['id']}/events?guest={one}")
    assert (mine["state"], mine["revealed"], mine["answered"]) == ("open", True, True)
    assert "counts" not in mine
    assert commanded(room, "ask", lesson="leaves").status == 200
    assert first_event(watch)["lesson"] == "leaves"
    assert commanded(room, "end").status == 200
    assert first_event(watch) == {"state": "gone", "sentence": "This class has ended."}
    assert len(classes) == 0


@pytest.mark.parametrize("command", ["invite", "reveal", "ask", "drawings", "follow", "end"])
def test_only_who_has_the_secret_leads(room: Any, command: str, classes: Classes):
    """And who has not is told the same of a class that is open as of one that never was."""
    guest = seat(room, "student")
    data = {"lesson": "leaves", "path": "/", "query": ""}
    told = set()
    for secret in ("", room["watch"], room["id"], guest):
        answer = posted(f"/classes/{room['id']}/{command}", {"secret": secret, **data})
        told.add((answer.status, answer.body))
    none = posted(f"/classes/000000000/{command}", {"secret": room["secret"], **data})
    assert told == {(none.status, none.body)}
    assert none.status == 403
    view = first_event(f"/classes/{room['id']}/events?watch={room['watch']}")
    assert (view["round"], view["revealed"], view["links"]) == (1, False, 0)


def test_an_open_class_looks_absent_without_a_seat(room: Any):
    for query in ("", "guest=", "guest=none", "watch=", "watch=none"):
        open_one, none = (got(f"/classes/{each}/events?{query}").body for each in (room["id"], "000000000"))
        assert open_one == none


@pytest.mark.parametrize(
    ("status", "sent"),
    [
        (400, {"picked": 9}), (400, {"drawn": ["<b>"]}), (400, {"text": "hello"}),
        (413, {"drawn": [0.123] * MAX_BODY_BYTES}), (403, {"guest": "", "picked": 0}),
        (403, {"guest": LESSON, "picked": 0}),
    ],
    ids=range(6),
)  # fmt: skip
def test_a_prediction_that_is_none_or_without_a_seat_is_refused_with_a_sentence(room, status: int, sent: Any):
    answer = answered(room, **{"guest": seat(room, "student")} | sent)
    assert (answer.status, answer.data["message"][-1]) == (status, ".")


def test_what_is_not_there_cannot_be_joined_nor_asked(classes: Classes):
    answer = posted("/classes/000000000/join", {"guest": ""})
    assert (answer.status, answer.data["message"]) == (404, UNKNOWN_CODE_MESSAGE)
    assert posted("/classes", {"lesson": "none"}).status == 400
    assert len(classes) == 0


def test_students_are_led_to_a_link_as_it_is_read_and_nowhere_else(room: Any):
    watch = f"/classes/{room['id']}/events?guest={seat(room, 'a')}"
    for path, query in (
        ("https://example.org/", "op=sign"), ("//example.org", "op=sign"), ("/learn", ""), ("/../x", ""),
        (None, ""), (["/"], ""), ("/", "op=sign&next=https://example.org"), ("/", "op=none"),
        ("/train", "task=none"), ("/", "x" * 7000),
    ):  # fmt: skip
        answer = commanded(room, "follow", path=path, query=query)
        assert (answer.status, answer.data["message"][-1]) == (400, ".")
        assert first_event(watch)["link"] is None
    query = "op=sign&rule=default&rule=formula%3A+g*%28abs%28x%29+%3C%3D+1%29&range=-2&range=2"
    assert commanded(room, "follow", path="/", query=query).data == {"here": 0}
    link = first_event(watch)["link"]
    assert (link["path"], link["query"].count("rule=")) == ("/", 2)


def test_the_invitation_has_a_short_address_and_its_code(room: Any):
    base = "https://example.org/tools/explorer/"
    told = commanded(room, "invite", address=base).data
    assert told["address"] == f"{base}c/{told['code']}"
    assert told["code"].replace("-", "") == room["id"]
    assert len(told["code"]) == 11
    assert told["path"].count("M") > 200
    for wrong in ("", "javascript:alert(1)/", "https://example.org", f"https://{'x' * 200}/"):
        assert commanded(room, "invite", address=wrong).status == 400


def test_the_code_in_the_picture_is_the_address(monkeypatch: pytest.MonkeyPatch):
    """Read back from the path that is drawn, module by module."""
    segno = pytest.importorskip("segno")
    told = invitation.make_invitation("first~k7mx2pwrq", "https://example.org/")
    symbol = segno.make("https://example.org/c/first-k7m-x2p-wrq", error="m", micro=False)
    rows = [list(row) for row in symbol.matrix_iter(border=4)]
    drawn = {tuple(map(int, bit.removesuffix("h1v1h-1z").split())) for bit in told["path"].split("M") if bit}
    dark = {(x, y) for y, row in enumerate(rows) for x, module in enumerate(row) if module}
    assert drawn == dark
    assert told["size"] == len(rows)


def test_a_short_address_leads_to_the_class(room: Any):
    code = commanded(room, "invite", address="http://x/").data["code"]
    for typed in (code, code.upper(), room["id"]):
        for target, learn in ((f"/c/{typed}", "../learn"), (f"/c?code={typed}", "learn")):
            answer = got(target)
            assert (answer.status, answer.headers["location"]) == (303, f"{learn}?class={room['id']}")
            assert "visitor=" in answer.headers["set-cookie"]


def test_a_code_is_asked_for_and_a_wrong_one_named_as_text(room: Any):
    page, wrong = got("/c"), got("/c?code=%3Cscript%3E")
    assert (page.status, 'name="code"' in page.text) == (200, True)
    assert (wrong.status, "No class has this code" in wrong.text) == (404, True)
    assert ("<script>" in wrong.text, "&lt;script&gt;" in wrong.text) == (False, True)


def test_a_stream_tells_of_each_change_until_the_end(room: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stream, "TEACHER_INTERVAL_S", 0.0)
    path = f"/classes/{room['id']}"

    async def watched() -> list[Answer]:
        async def post(command: str, data: Any) -> Answer:
            await asyncio.sleep(0.02)
            return await CLIENT.ask("POST", f"{path}/{command}", json.dumps(data).encode())

        guest = (await post("join", {"guest": ""})).data["guest"]
        watching = [
            asyncio.create_task(CLIENT.ask("GET", f"{path}/events?{who}", events=most))
            for who, most in ((f"guest={guest}", 4), (f"watch={room['watch']}", 5))
        ]
        await post("answer", {"guest": guest, "round": 1, "picked": 1})
        for command, more in (("reveal", {}), ("ask", {"lesson": "leaves"}), ("end", {})):
            await post(command, {"secret": room["secret"], **more})
        return await asyncio.gather(*watching)

    student, teacher = map(events_of, asyncio.run(watched()))
    assert [(each["round"], each["revealed"], each["state"]) for each in student] == [
        (1, False, "open"), (1, True, "open"), (2, False, "open"), (2, False, "ended"),
    ]  # fmt: skip
    assert [each["answered"] for each in teacher][:3] == [0, 1, 1]
    assert teacher[-1]["state"] == "ended"


def test_a_class_ends_by_itself_though_nobody_asks_for_it(room, classes, clock: Clock, monkeypatch):
    monkeypatch.setattr(routes, "EXPIRY_INTERVAL_S", 0.0)
    held = classes.find(room["id"])

    async def ended() -> None:
        looking = asyncio.create_task(routes.end_expired_classes())
        await asyncio.sleep(0.01)
        assert not held.has_ended
        clock.now += MAX_AGE_S
        await asyncio.sleep(0.01)
        assert held.has_ended
        looking.cancel()

    asyncio.run(ended())


@pytest.mark.usefixtures("first")
def test_a_code_names_its_server_and_the_other_one_sends_there():
    room = posted("/classes", {"lesson": LESSON}).data
    assert room["id"].startswith("first~")
    assert commanded(room, "invite", address="http://x/").data["code"].startswith("first-")
    entered = got(f"/c/first-{room['id'].removeprefix('first~')}")
    assert entered.headers["location"] == f"../learn?class={room['id']}"
    assert "replica=first" in entered.headers["set-cookie"]
    assert "visitor=" in entered.headers["set-cookie"]
    there = got("/c/second-k7m-x2p-wrq")
    assert (there.status, there.headers["location"]) == (307, "?replica=second")
    asked_for = got("/c?code=second-k7m-x2p-wrq")
    assert asked_for.headers["location"] == "?code=second-k7m-x2p-wrq&replica=second"
    for path in ("join", "answer", "reveal"):
        answer = posted(f"/classes/second~k7mx2pwrq/{path}", {})
        assert (answer.status, answer.headers["location"]) == (307, "?replica=second")
    assert got("/classes/second~k7mx2pwrq/events?guest=x").headers["location"].endswith("replica=second")


@pytest.mark.usefixtures("first")
def test_a_class_whose_server_is_away_says_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(replicas, "_RETRY_S", 0.0)
    told = first_event("/classes/second~k7mx2pwrq/events?guest=x&replica=second")
    assert told["state"] == "silent"
    assert "on the server second, which cannot be reached" in told["sentence"]
    page = got("/c/second-k7m-x2p-wrq?replica=second")
    assert page.status == 503
    assert b"on the server second, which cannot be reached" in page.body


def test_every_lesson_can_be_asked_in_a_class(classes: Classes):
    for key in LESSONS:
        room = posted("/classes", {"lesson": key}, name=f"teacher of {key}").data
        assert answered(room, seat(room, "student"), picked=0).status == 200
        assert commanded(room, "end").status == 200
