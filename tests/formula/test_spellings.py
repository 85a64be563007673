import sys
import threading

import pytest
import torch

from explorer.formula import FUNCTIONS, MAX_LENGTH, FormulaError, parse
from explorer.formula.aliases import CALLS
from tests.formula.hostile import HOSTILE
from tests.formula.test_parsing import refused
from tests.selection import loop_over

TENSORS = ("other", "values", "tensor1", "tensor2", "end")


@loop_over("row", FUNCTIONS.values())
def test_arity_is_exact(row):
    counts = range(row.arity + 2)
    others = {
        count for count in counts for call in CALLS.get(row.name, ()) if call.bind_operands(*["x"] * count)
    }
    for count in {0, row.arity - 1, row.arity + 1} - others:
        error = refused(f"{row.name}({', '.join(['x'] * count)})")
        assert f"{row.name} at column 1 takes {row.arity} argument" in error.message


FORGIVEN = [  # what people write, what it is
    ("x − 1", "x - 1"), ("−0.5·x", "-0.5 * x"), ("x × y ÷ g", "x * y / g"),
    ("1 * (x ≤ 1) + (x ≥ y) + (0 ≠ x)", "1 * (x <= 1) + (x >= y) + (0 != x)"), ("x^2", "x ** 2"),
    ("jax.nn.relu(x) + jnp.tanh(x)", "relu(x) + tanh(x)"), ("2σ(x) * g", "2 * sigmoid(x) * g"),
    ("2^-x^2", "2 ** -x ** 2"), ("3x² − x³", "3 * x ** 2 - x ** 3"), ("x¹²", "x ** 12"),
    ("−1e−09x", "-1e-09 * x"), ("α·x + β1 + λ", "alpha * x + beta1 + lambd"),
    ("ϵ + ϕ2·µ", "epsilon + phi2 * mu"), ("2x", "2 * x"), ("2x*(1 - x)", "2 * x * (1 - x)"),
    ("2e3x", "2000 * x"), ("3sin(x)", "3 * sin(x)"), ("2torch.abs(x)", "2 * abs(x)"),
    ("|x| * |y|", "abs(x) * abs(y)"), ("|x - |y||", "abs(x - abs(y))"),
    ("2|x| - 0.5|x - 1|**2", "2 * abs(x) - 0.5 * abs(x - 1) ** 2"), ("2||x| - 1|", "2 * abs(abs(x) - 1)"),
    ("|(x > 0) * ((x < 1) | (y > 0))|", "abs((x > 0) * ((x < 1) | (y > 0)))"),
    ("g * (|x| <= 1 )", "g * (abs(x) <= 1)"), ("torch.nn.functional.relu(x)", "relu(x)"),
    ("F.gelu(x) + nn.functional.silu(x)", "gelu(x) + silu(x)"),
    ("np.exp(x) * math.pi + np.maximum(x, 0)", "exp(x) * pi + max(x, 0)"),
    ("ReLU(x) + Abs(x)", "relu(x) + abs(x)"), ("clamp(x, lo)", "clamp_min(x, lo)"),
    ("torch.clamp(x, min=0)", "clamp_min(x, 0)"), ("clamp(x, max = hi)", "clamp_max(x, hi)"),
    ("clamp(x, max=1, min=0)", "clamp(x, 0, 1)"), ("hardtanh(x, max_val=2)", "hardtanh(x, -1, 2)"),
    ("x / max(abs(x))", "x / amax(abs(x))"), ("F.leaky_relu(x, negative_slope=0.2)", "leaky_relu(x, 0.2)"),
    ("torch.where(x > 0, x, 0)", "where(x > 0, x, 0)"), ("1 / square(x + 1)", "1 / (x + 1) ** 2"),
    ("pow(x, -y)", "x ** -y"), ("np.mod(x, 2)", "remainder(x, 2)"), ("elu(x)", "elu(x, 1)"),
]  # fmt: skip


@loop_over(("text", "meant"), FORGIVEN)
def test_common_spellings_are_read(text, meant):
    formula = parse(text, parameters=None)
    assert formula == parse(meant, parameters=None)
    assert parse(formula.text, parameters=None) == formula


VALUES = {"b": 0.25, "c": 0.5, "d": 2.0}
OTHER_CALLS = [(name, call) for name, calls in CALLS.items() for call in calls]


def written(name, call, named):
    """The call of x and numbers, with the names torch gives its arguments or without."""
    parts = []
    for letter, parameter in zip("bcd", list(call.signature.parameters.values())[1:], strict=False):
        keyword = named or parameter.kind is parameter.KEYWORD_ONLY
        parts.append(f"{parameter.name}={letter}" if keyword else letter)
    return f"{name}({', '.join(['x', *parts])})"


# What is called so elsewhere: in NumPy, JAX, Keras or mathematics.
LIBRARIES = (torch, torch.nn.functional, torch.special)

ELSEWHERE = {
    "fabs": torch.abs, "rint": torch.round, "mod": torch.remainder, "power": torch.pow, "ceiling": torch.ceil,
    "ln": torch.log, "sqr": torch.square, "cot": lambda x: torch.cos(x) / torch.sin(x),
    "sec": lambda x: 1 / torch.cos(x), "csc": lambda x: 1 / torch.sin(x),
    "sech": lambda x: 2 / (torch.exp(x) + torch.exp(-x)),
    "csch": lambda x: 2 / (torch.exp(x) - torch.exp(-x)),
    "coth": lambda x: (torch.exp(x) + torch.exp(-x)) / (torch.exp(x) - torch.exp(-x)),
    "logistic": torch.sigmoid, "log_sigmoid": torch.nn.functional.logsigmoid,
    "swish": torch.nn.functional.silu, "hard_tanh": torch.nn.functional.hardtanh,
    "hard_sigmoid": torch.nn.functional.hardsigmoid, "hard_swish": torch.nn.functional.hardswish,
    "soft_sign": torch.nn.functional.softsign, "stop_gradient": torch.detach,
}  # fmt: skip


@loop_over(("name", "call"), OTHER_CALLS)
def test_each_other_call_is_what_libraries_call_so(name, call):
    x = torch.linspace(0.1, 0.9, 9, dtype=torch.float64)
    formula = parse(written(name, call, named=False), parameters="bcd")
    assert parse(written(name, call, named=True), parameters="bcd") == formula
    value = formula.bind(VALUES)(x)
    assert value.isfinite().all()
    if name in ("log", "fix", "prelu"):
        return
    theirs = next((getattr(each, name) for each in LIBRARIES if hasattr(each, name)), ELSEWHERE.get(name))
    assert theirs, f"what {name} is must be said among these"
    takes = list(call.signature.parameters.values())[1:]
    numbers = {parameter: VALUES[letter] for parameter, letter in zip(takes, "bcd", strict=False)}
    arguments = {p: torch.full_like(x, n) if p.name in TENSORS else n for p, n in numbers.items()}
    named = {p.name: n for p, n in arguments.items() if p.kind is p.KEYWORD_ONLY or p.name == "value"}
    plain = [n for p, n in arguments.items() if p.name not in named]
    torch.testing.assert_close(value, theirs(x, *plain, **named).expand_as(x))


@loop_over(("name", "call"), OTHER_CALLS)
def test_arguments_with_a_default_in_torch_are_optional(name, call):
    defaults = {key: p.default for key, p in call.signature.parameters.items() if p.default is not p.empty}
    theirs = next((space for space in (torch, torch.nn.functional) if hasattr(space, name)), None)
    if defaults and theirs and not name.startswith("addc"):
        x = torch.linspace(-3, 3, 9, dtype=torch.float64)
        torch.testing.assert_close(parse(f"{name}(x)").bind()(x), getattr(theirs, name)(x))


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("grad_output", "g"), ("grad", "g"), ("dy", "g"), ("gy", "g"), ("G", "g"), ("X", "x"),
        ("inputs", "x"), ("output", "y"), ("Y", "y"),
    ],
)  # fmt: skip
def test_other_words_for_the_variables_are_no_parameters(name, meant):
    for parameters in (None, ()):
        error = refused(f"2 * {name}", parameters=parameters)
        assert error.message == f'unknown name "{name}" at column 5: did you mean {meant}?'
    assert parse(f"2 * {name}", parameters=(name,)).parameters == (name,)


@pytest.mark.parametrize(
    "name", ["asin", "acos", "asinh", "acosh", "sinc", "atan2", "erfinv", "cbrt", "softmax", "log3"]
)
def test_no_other_function_is_ever_suggested(name):
    assert "a * is missing, or this is not a known function" in refused(f"{name}(x)").message


def test_the_limit_holds_for_the_text_that_is_written():
    short, long = ("+".join(14 * [f"{name}*{name}"]) for name in ("x", "parameter"))
    assert len(parse(short).text) > len(short)
    assert len(long) <= MAX_LENGTH
    error = refused(long, parameters=None)
    assert (error.column, "with its spaces and full names the formula has" in error.message) == (1, True)


@loop_over(
    ("text", "same_as"),
    [
        ("a < x < b", "((a < x < b))"), ("-x**2", "-(x**2)"), ("2**-x**2", "2**(-(x**2))"),
        ("x**y**g", "x**(y**g)"), ("-x*y", "(-x)*y"), ("x-y-g", "(x-y)-g"), ("x/y/g", "(x/y)/g"),
        ("x*-y", "x*(-y)"), ("x--y", "x-(-y)"), ("~(x>0) & (y>0)", "(~(x>0)) & (y>0)"),
        ("(x>0) | (y>0) & (g>0)", "(x>0) | ((y>0) & (g>0))"), ("x+1 < y*2", "(x+1) < (y*2)"),
        ("1 < x == y", "1 < x == y"),
    ],
)  # fmt: skip
def test_precedence_is_that_of_python(text, same_as):
    frame = "where({}, 1, 0)" if set(text) & set("<>") else "{}"
    left, right = (parse(frame.format(each), parameters=("a", "b")) for each in (text, same_as))
    assert left == right


def test_a_chain_in_parentheses_is_no_longer_a_chain():
    assert "needs a number" in refused("1 * ((0 < x) < 1)").message


def everything(texts: list[str]) -> None:
    x = torch.linspace(-2, 2, 5, requires_grad=True)
    for text in texts:
        try:
            formula = parse(text, parameters=None)
        except FormulaError:
            continue
        assert all([formula.text, formula.latex, formula.torch_source, formula.jax_source])
        value = formula.bind(dict.fromkeys(formula.parameters, 0.5))(x, x, x)
        if value.requires_grad:
            value.sum().backward()


def test_reading_and_evaluating_opens_imports_and_executes_nothing():
    calls = [f"{row.name}({', '.join(['x', '0.5', '2', '3'][: row.arity])})" for row in FUNCTIONS.values()]
    calls += ["where(x > c, x, -1)", "g * (lo <= x <= hi)", "9**9**9**9 + mean(x)"]
    everything(calls)  # once before, since torch imports parts of itself at first use
    seen: list[str] = []
    watched = [threading.get_ident()]
    # A hook stays until the process ends: this one hears nothing once nobody is watched.
    sys.addaudithook(lambda event, _: seen.append(event) if threading.get_ident() in watched else None)
    everything([*calls, *HOSTILE])
    watched.clear()
    assert seen == []
