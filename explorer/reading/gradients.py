"""The gradients that backward returns, input by input, and what is wrong with them."""

from inspect import Parameter, signature
from typing import NamedTuple

from explorer.formula.tree import find_names
from explorer.reading.errors import HangsError, Note, ReadingError, UnreadableError, require
from explorer.reading.learning import Part, part_of, shape_notes
from explorer.reading.passes import Passes, first
from explorer.reading.reader import method
from explorer.reading.values import Quantity, Value, sum_of

LEFT_OUT = "backward also returns a gradient for {}, which is left out: {}"
HAS_A_VALUE = "belongs to an input whose value in the signature stays: write {} without one"
NO_NAME = "belongs to no input with a name"
GUARDED = "hangs on what another input needs: that of {} is ctx.needs_input_grad[{}]"
NEVER = "backward returns None for {}, a tensor that y depends on: it never learns"
NO_GRADIENT_FOR_X = "the gradient for x is None: nothing before it learns"
SEVERAL_OUTPUTS = (
    "forward returns {} outputs: the first alone is read, and the gradients of others count as 0"
)
A_LIST = "backward returns a list: torch takes a tuple of gradients, and raises an error"
FOR_A_NUMBER = (
    "backward returns a gradient for {0}, which is a number: torch takes None alone, and raises an error"
)
WRONG_NUMBER = "backward returns {} for {}: torch raises an error"


class Others(NamedTuple):
    """The gradients of the inputs after the first, notes, and the names that were not read or are guarded."""

    learned: tuple[Part, ...]
    notes: list[Note]
    unread: frozenset[str]
    guarded: frozenset[str]


def others(passes: Passes, asks: bool) -> Others:
    """The gradients of the inputs after the first; ``asks``: whether the code asks which need one."""
    parts, notes, unread, guarded = list[Part](), list[Note](), set[str](), set[str]()
    inputs, parameters = passes.inputs, passes.reader.parameters
    for position, value in enumerate(passes.returned):
        if position == 0 or value is None:
            continue
        own = inputs[position] if position < len(inputs) else f"input {position + 1}"
        name = parameters.get(own, own)
        try:
            require(position < len(inputs), NO_NAME)
            part = _part(passes, position, own, asks)
            guarded |= {name} if asks and passes.under(position, {0}) is None else set()
            parts.append(part)
            notes += map(Note, shape_notes(value, own))
        except (ReadingError, UnreadableError) as reason:
            unread.add(name)
            named = own if name == own else f"{own} (here {name})"
            words = reason if isinstance(reason, ReadingError) else f"it {reason}"
            kind = "hangs" if isinstance(reason, HangsError) else "unread"
            notes.append(Note(LEFT_OUT.format(named, words), kind))
    return Others(tuple(parts), notes, frozenset(unread), frozenset(guarded))


def _part(passes: Passes, position: int, own: str, asks: bool) -> Part:
    """The gradient of one input by its name in the code; raises UnreadableError where it is no sum."""
    reader, value = passes.reader, passes.returned[position]
    require(own in reader.parameters, HAS_A_VALUE.format(own))
    part = part_of(value, reader.parameters[own], reader.notes)
    ways = [passes.under(position, needed) for needed in ({0, position}, {position})] if asks else []
    require(all(_is_same(value, way) for way in ways), GUARDED.format(own, position), HangsError)
    return part


def faults(passes: Passes, asks: bool) -> list[Note]:
    """Notes on gradients that are missing, hang on what another input needs, or are refused by torch."""
    silent = _without_gradient(passes)
    gradient = first(passes.gradients)
    blocked = gradient is None and any(value is not None for value in passes.returned[1:])
    notes = [Note(NO_GRADIENT_FOR_X, "silent")] * blocked
    if passes.outputs > 1:
        notes.append(Note(SEVERAL_OUTPUTS.format(passes.outputs), "unread"))
    if asks and gradient is not None and not _is_same(gradient, passes.under(0, {0})):
        notes.append(Note(f"the gradient for x {GUARDED.format('x', 0)}", "hangs"))
    return [*notes, *silent, *_refused(passes), *_numbered(passes)]


def _without_gradient(passes: Passes) -> list[Note]:
    """A sentence for each tensor that y depends on and backward returns None for."""
    tensors, parameters = passes.saved.intersection(find_names(passes.op)), passes.reader.parameters
    pairs = zip(passes.inputs[1:], passes.returned[1:], strict=False)
    silent = [own for own, value in pairs if value is None and parameters.get(own) in tensors]
    return [Note(NEVER.format(own), "silent") for own in silent]


def _refused(passes: Passes) -> list[Note]:
    """A note for each gradient of an input that is a number in the call."""
    pairs = zip(passes.reader.inputs or (), passes.returned[1:], strict=False)
    numbers = [each.name for each, value in pairs if not each.tensor and value is not None]
    return [Note(FOR_A_NUMBER.format(name), "raises") for name in numbers]


def _numbered(passes: Passes) -> list[Note]:
    """A note where backward returns a list, or fewer or more gradients than forward can take inputs."""
    if isinstance(passes.gradients, list):
        return [Note(A_LIST, "raises")]
    returned, inputs = list(passes.returned), len(passes.inputs)
    takes = signature(method(passes.group, "forward")).parameters.values()
    needed = inputs - sum(parameter.default is not Parameter.empty for parameter in takes)
    while len(returned) > inputs and returned[-1] is None:  # torch passes these over
        returned.pop()
    if Parameter.VAR_POSITIONAL in {each.kind for each in takes} or needed <= len(returned) <= inputs:
        return []
    number = f"{len(returned)} gradient{'s' * (len(returned) != 1)}"
    return [Note(WRONG_NUMBER.format(number, f"{inputs} input{'s' * (inputs != 1)}"), "raises")]


def _is_same(value: Value, other: Value) -> bool:
    if not isinstance(value, Quantity) or not isinstance(other, Quantity):
        return value is other
    return (value.node, value.within, sum_of(value)) == (other.node, other.within, sum_of(other))
