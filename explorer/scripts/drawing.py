"""Code for the random numbers of a script: u of the run, and the loss of other outputs for some rules."""

from textwrap import indent

from explorer.scripts.functions import Functions
from explorer.scripts.net import example_of, write_net_arguments
from explorer.training import TASKS, Settings
from explorer.training.nets import EVALUATION_STEP
from explorer.training.numerics import squared_error

_DRAWS = '''
# The random values that each function takes.
takes = {takes}
{judged}{losses}

def mixed(word):
    """A hash of 32 bits: lowbias32."""
    word = ((word ^ (word >> 16)) * 0x7FEB352D) & 0xFFFFFFFF
    word = ((word ^ (word >> 15)) * 0x846CA68B) & 0xFFFFFFFF
    return word ^ (word >> 16)


def uniform(seed, step, layer, shape):
    """One u per element: a hash of its position, so nothing has to be stored."""
    key = 0
    for part in (seed, step, layer, 0):
        key = mixed((key + (part & 0xFFFFFFFF) + 0x9E3779B9) & 0xFFFFFFFF)
    bits = mixed(mixed(torch.arange(shape.numel()) ^ key)) >> 8
    return ((bits.double() + 0.5) / 2**24).float().clamp(2**-24, 1 - 2**-24).view(shape)


def drawing(op, seed, step{parameters}):
    """The op with its random values at a step, layer by layer."""
    calls = itertools.count()

    def drawn(x, *learned):
        call = next(calls)
        {fixed}
        {u}
        given = {given}
        return op(x, *learned, **{{name: given[name] for name in takes[op.__name__]}})

    drawn.__name__ = op.__name__
    return drawn
'''
_JUDGED = """
# The functions that replace these when nets are evaluated.
when_judged = {{{judged}}}
"""
_U = "u = uniform(seed, step, call, x.shape)"
_U_BY_TIME = f"""
layer, time = divmod(call, {{times}})
u = {_U[4:].replace("call", "layer").replace("x.shape", "x.repeat({times}, 1).shape")}.chunk({{times}})[time]
"""
_FIXED = """
if call in fixed:
    return fixed[call]
"""
_WITH_LOSS = '{"u": u, "f": lambda y: as_x(losses(drawing(op, seed, step, losses, {call: y})), x)}'
_LOSSES = '''

def by_example(output, y):
    """What each example adds to the loss."""
    {by_example}


def as_x(loss, x):
    """What each example adds to the loss, for each of the op's inputs."""
    return {as_x}.expand_as(x)
'''
# Code that maps the loss of each example to the op's inputs, by the key of the op's site.
_AS_X = {
    "activations": "loss",
    "maps": "loss.T.repeat(1, x.shape[1] // len(loss))",
    "spikes": "loss",
    "weights": "loss.sum(0)",
    "kernels": "loss.sum(0)",
}
_SQUARES = "return (output - y).square().sum(1, keepdim=True)"
# Code by whether the targets are numbers rather than classes.
_BY_EXAMPLE = {
    True: f"{_SQUARES} / output.numel()",
    False: """
away = output - output.amax(1, keepdim=True)
return (away.exp().sum(1, keepdim=True).log() - away.gather(1, y[:, None])) / len(y)
""",
}


def write_draws_code(settings: Settings, functions: Functions) -> str:
    """Return the code that draws random numbers, or "" if nothing in the script is random."""
    if not functions.is_random:
        return ""
    task = TASKS[settings.task]
    are_numbers = example_of(settings).train.y.is_floating_point()
    by_example = _SQUARES if task.loss is squared_error else _BY_EXAMPLE[are_numbers]
    losses = _LOSSES.format(by_example=_indent_code(by_example, 1), as_x=_AS_X[task.net.site.key])
    judged = ", ".join(f"{name!r}: {function}" for name, function in functions.judged.items())
    u = _U_BY_TIME.format(times=task.net.site.times) if task.net.site.times > 1 else _U
    return _DRAWS.format(
        takes=functions.takes,
        judged=_JUDGED.format(judged=judged) if judged else "",
        losses=losses if functions.needs_loss else "",
        parameters=", losses=None, fixed=()" if functions.needs_loss else "",
        fixed=_indent_code(_FIXED, 2) if functions.needs_loss else "",
        u=_indent_code(u, 2),
        given=_WITH_LOSS if functions.needs_loss else '{"u": u}',
    )


def _indent_code(code: str, levels: int) -> str:
    return indent(code.strip(), levels * "    ").lstrip()


def write_training_op(settings: Settings, functions: Functions) -> str:
    """Return code for the op in a training step, such as ``op`` or a call that binds random numbers to it."""
    if not functions.is_random:
        return "op"
    losses = (
        f", lambda op: by_example(net({write_net_arguments(settings)}), y)" if functions.needs_loss else ""
    )
    return f"drawing(op, seed, step{losses})"


def write_judged_op(functions: Functions) -> str:
    """Return code for the op when nets are evaluated, with random numbers bound to it if there are any."""
    if not functions.is_random:
        return "op"
    op = "when_judged.get(op.__name__, op)" if functions.judged else "op"
    return f"drawing({op}, seed, {EVALUATION_STEP})"
