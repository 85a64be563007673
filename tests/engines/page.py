"""A page of a browser as its driver has it: a script is run in it, and a hand acts on it."""

import time
from typing import Any

WAITS_S = 40.0
_OFTEN_S = 0.1
_STEPS = 10  # of a drag
Point = tuple[float, float]

# The elements that a person sees, and the first of a role with a name, in the page.
_FIND = """
    const seen = node => node.checkVisibility({ visibilityProperty: true })
        && node.getBoundingClientRect().width > 1 && !node.closest("[inert]");
    const all = (css) => [...document.querySelectorAll(css)].filter(seen);
    const TAGS = { button: "button, summary", link: "a[href]", slider: "[role=slider], input[type=range]" };
    const nameOf = node => node.getAttribute("aria-label") ?? node.textContent.trim();
    const named = (role, name) => all(`${TAGS[role]}, [role=${role}]`).find(each => nameOf(each) === name);
"""


class Page:
    """One window of a browser of another maker than Chromium's.

    A browser has five methods of its own: ``visit(address)``; ``call(function)``, the result of an async
    JavaScript function as plain data; ``act(source)``, the actions of one source of WebDriver's, a pointer
    or the keys; ``errors()``, which the page has logged since it was last asked; and ``screenshot(file)``.
    """

    def read(self, expression: str) -> Any:
        """The value of an expression, in which ``all(css)`` and ``named(role, name)`` find what is seen."""
        return self.call(f"async () => {{ {_FIND} return {expression}; }}")

    def wait(self, expression: str, wait_s: float = WAITS_S) -> Any:
        until = time.monotonic() + wait_s
        while not (value := self.read(expression)):
            assert time.monotonic() < until, f"in vain: {expression}; the page says {self.read(_TEXT)!r}"
            time.sleep(_OFTEN_S)
        return value

    def middle(self, node: str) -> Point:
        """The middle of an element, once it is there and has stopped moving."""
        found = self.wait(f"await ({_RESTING})(() => {node})")
        return found["x"], found["y"]

    def click(self, node: str) -> None:
        self.drag(self.middle(node), (0, 0))

    def press(self, name: str, role: str = "button") -> None:
        self.click(f"named({role!r}, {name!r})")

    def drag(self, at: Point, by: Point, pointer: str = "mouse") -> None:
        """Take hold of what is at a point and move it by so many px; ``pointer`` is "mouse" or "touch"."""
        x, y = at
        parts = [step / _STEPS for step in range(1, _STEPS + 1) if by != (0, 0)]
        moves = [_move((x + by[0] * part, y + by[1] * part), 20) for part in parts]
        down, up = ({"type": f"pointer{kind}", "button": 0} for kind in ("Down", "Up"))
        source = {"type": "pointer", "id": pointer, "parameters": {"pointerType": pointer}}
        self.act(source | {"actions": [_move(at, 0), down, *moves, up]})

    def key(self, value: str) -> None:
        """Press a key, by WebDriver's character for it."""
        keys = [{"type": f"key{kind}", "value": value} for kind in ("Down", "Up")]
        self.act({"type": "key", "id": "keys", "actions": keys})


_TEXT = "document.body.innerText.slice(0, 400)"
_RESTING = """async find => {
    find()?.scrollIntoView({ block: "nearest" });
    const place = () => JSON.stringify(find()?.getBoundingClientRect() ?? null);
    const before = place();
    await new Promise(done => setTimeout(done, 150));
    if (before === "null" || before !== place()) return null;
    const { x, y, width, height } = JSON.parse(before);
    return { x: x + width / 2, y: y + height / 2 };
}"""


def _move(place: Point, duration: int) -> dict[str, Any]:
    x, y = (round(value) for value in place)
    return {"type": "pointerMove", "x": x, "y": y, "duration": duration, "origin": "viewport"}
