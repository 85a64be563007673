"""Nothing that is pasted is ever executed, and nothing makes the reader fail or hang."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.catalogue import find_op, find_rule
from explorer.reading import Reading, ReadingError, read_source, read_sources
from tests.reading.constructs import CONSTRUCTS
from tests.reading.plain import PLAIN
from tests.reading.samples import FUNCTIONS
from tests.reading.test_unreadable import _fn
from tests.selection import count_examples

_HARMLESS = ("compile", "builtins.id", "object.", "sys._getframe", "gc.", "cpython.", "time.")
_seen: list[str] | None = None


def _hook(event: str, _arguments: object) -> None:
    if _seen is not None and not event.startswith(_HARMLESS):
        _seen.append(event)


sys.addaudithook(_hook)


@contextmanager
def _watched() -> Iterator[list[str]]:
    """The audit events of a block: files, processes, imports, sockets, exec."""
    global _seen
    _seen = events = []
    try:
        yield events
    finally:
        _seen = None


DOUBLING = "def f0(x):\n  return x\n" + "".join(
    f"def f{i}(x):\n  return f{i - 1}(f{i - 1}(x))\n" for i in range(1, 40)
)
HOSTILE = {
    "parentheses": "(" * 10_000,
    "signs": _fn("return " + "-" * 15_000 + "x"),
    "sum": _fn("return x" + "+x" * 9_000),
    "calls": _fn("return x" + "()" * 9_000),
    "otherwise": _fn("return " + "x if x else " * 1_500 + "x"),
    "lambdas": "f = " + "lambda x: " * 1_900 + "x",
    "unclosed": "a=(\n" * 5_000 + "def f(x): return x",
    "digits": _fn("return x * " + "9" * 15_000),
    "tower": _fn("return x * 9**9**9**9**9"),
    "shift": _fn("return x * (1 << 10**9)"),
    "repetition": _fn("return x * len('a' * 10**12)"),
    "doubling tuple": _fn("a = (x, x)\n" + "a = (*a, *a)\n" * 60 + "return a[0]"),
    "doubling arguments": "def f(*a): return a\n" + _fn("a = x\n" + "a = f(a, a)\n" * 60 + "ctx.a = a"),
    "twice the same input": _fn("return x", takes="ctx, x, x"),
    "no inputs": _fn("return x", takes="ctx").replace("(ctx, g)", "()"),
    "member of a tensor": _fn("return x * (1 in x)"),
    "attribute of a builtin": _fn("return x * max.size(x)"),
    "class of an object": _fn("ctx.register_buffer('__class__', x)\nreturn x"),
    "wrong arguments of a method": _fn("ctx.save_for_backward(z=1)\nctx.register_buffer()\nreturn x"),
    "loops without end": _fn("r = range(60)\nreturn x * sum([1" + " for a in r" * 12 + "])"),
    "start of a count": _fn("return x * enumerate((1, 2), 'a')[0][0] * sum((1, 2), 'a')"),
    "unhashable keys": _fn("a = {'a': 1}\nreturn x * a.get({}, 1) * a[{}]"),
    "prose": "It's said that\n" * 1_300,
    "doubling helpers": DOUBLING + "def f(x):\n  return f39(x)\n",
    "doubling tensor": _fn("x = x * x\n" * 1_000 + "return x"),
    "deep helpers": "".join(
        f"def f{i}(x):\n  return {'(0 + ' * 45}f{i - 1}(x){')' * 45}\n" for i in range(1, 11)
    ) + "def f0(x):\n  return x\ndef f(x):\n  return f10(x)\n",
    "endless": "f = lambda x: f(f(x))\n",
    "many": "".join(_fn("return x").replace("Fn", f"Fn{i}") for i in range(200)),
    "big loop": _fn("for i in range(10**12):\n  x = x + 1\nreturn x"),
    "big integers": _fn("k = 3\n" + "k = k * k\n" * 60 + "return x * k"),
    "text as a format": _fn("a = '%999999999d' % 5\nreturn x * len(a)"),
    "big text": _fn("a = 'a' * 60\n" + "a = a * 60\n" * 20 + "return x * len(a)"),
    "big dictionary": _fn("a = {'a': (x,) * 60}\nreturn x * len(a['a'] * 60)"),
    "width": _fn("return f'{x:>99999999999}'"),
    "nul": "class A:\n\0",
    "surrogate": "class A:\n  '\ud800'",
    "control characters": "".join(map(chr, range(32))) * 50,
    "full-width": _fn("return ｘ.ｒｏｕｎｄ() * x"),
    "right to left": _fn("return x  # \u202e\u2066"),
    "only prompts": ">>> " * 4_000,
    "decorators": "@a\n" * 5_000 + "def f(x): return x",
    "bases": "class A(A): pass\n" * 1_000 + _fn("return x").replace("Function", "A"),
    "own base": "class Fn(Fn):\n  def forward(c, x): return c.q\n  def backward(c, g): return g",
}  # fmt: skip
ATTACKS = {
    "import": _fn("__import__('os').system('touch /tmp/owned')\nreturn x"),
    "default": _fn("return x", takes="ctx, x, k=__import__('os').getpid()"),
    "decorator": "@exec('print(1)')\n" + _fn("return x"),
    "base": _fn("return x").replace("Function", "eval('object')"),
    "constant": "K = open('/etc/passwd').read()\n" + _fn("return x"),
    "class body": _fn("return x").replace("  def", "  open('/etc/passwd')\n  def", 1),
    "subclasses": _fn("return x.__class__.__mro__[1].__subclasses__()"),
    "globals": _fn("return ctx.__init__.__globals__['os'].system('true') * x"),
    "format": _fn("return '{0.__class__}'.format(x) * x"),
    "pickle": _fn("return torch.load('/tmp/owned.pt') * x"),
    "getattr": _fn("return getattr(ctx, '__class__')"),
    "slots": _fn("return x").replace("  def", "  __slots__ = open('/etc/passwd')\n  def", 1),
    "finaliser": _fn("return x") + "  def __del__(self):\n    open('/etc/passwd')\n",
    "metaclass": _fn("return x").replace("(Function)", "(Function, metaclass=eval('type'))"),
}


def _check_outcome(text: str) -> None:
    """Read a text: each definition is refused at a line of the text, or its keys are an op and a rule."""
    lines = text.count("\n") + text.count("\r") + 1
    try:
        readings = read_sources(text)
    except ReadingError as error:
        readings = [Reading("", 1, problem=error)]
    assert readings
    for reading in readings:
        assert 1 <= reading.line <= lines
        if reading.problem:
            assert 1 <= reading.problem.line <= lines
            assert reading.problem.message.strip() == str(reading.problem)
        else:
            assert find_op(reading.op).key == reading.op
            assert find_rule(reading.rule).key == reading.rule


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_refused_in_a_sentence_or_read(text: str) -> None:
    _check_outcome(text)


@pytest.mark.parametrize("text", ATTACKS.values(), ids=ATTACKS)
def test_nothing_is_executed(text: str) -> None:
    read_source(_fn("return F.leaky_relu(x) * math.sin(1)"))  # what is imported at first use is imported
    with _watched() as events:
        _check_outcome(text)
    assert events == []


def test_the_watch_would_notice() -> None:
    with _watched() as events:
        exec("open('/dev/null').close()")
    assert {"exec", "open"} <= set(events)


@given(st.text(max_size=200))
@settings(max_examples=count_examples(150), deadline=None)
def test_any_text_is_read_or_refused(text: str) -> None:
    _check_outcome(text)


SOURCES = [sample.source for sample in (*FUNCTIONS, *CONSTRUCTS, *PLAIN)]
PIECES = sorted({word for source in SOURCES for word in source.replace("(", " ( ").split(" ") if word})


@given(st.sampled_from(SOURCES), st.data())
@settings(max_examples=count_examples(300), deadline=None)
def test_code_with_a_piece_exchanged_is_read_or_refused(source: str, data: st.DataObject) -> None:
    words = source.split(" ")
    for _ in range(data.draw(st.integers(1, 3))):
        words[data.draw(st.integers(0, len(words) - 1))] = data.draw(st.sampled_from(PIECES))
    _check_outcome(" ".join(words))
