"""The gradient that a Function's backward returns for each input, and faults in it."""

from inspect import Parameter, signature

from explorer.formula.tree import find_names
from explorer.reading.errors import ConditionalGradientError, Note, ReadingError, UnreadableError, require
from explorer.reading.learning import Part, list_shape_notes, split_gradient
from explorer.reading.passes import Passes, take_first
from explorer.reading.reader import find_method
from explorer.reading.values import Quantity, Value, get_sum

LEFT_OUT = "backward also returns a gradient for {}, which is left out: {}"
HAS_A_VALUE = "belongs to an input whose value in the signature stays: write {} without one"
NO_NAME = "belongs to no input with a name"
GUARDED = "depends on whether another input needs a gradient: for {} the test is ctx.needs_input_grad[{}]"
NEVER_LEARNS = "backward returns None for {}, a tensor that y depends on: it never learns"
NO_GRADIENT_FOR_X = "the gradient for x is None: nothing before it learns"
SEVERAL_OUTPUTS = (
    "forward returns {} outputs: the first alone is read, and the gradients of others count as 0"
)
A_LIST = "backward returns a list: torch takes a tuple of gradients, and raises an error"
FOR_A_NUMBER = (
    "backward returns a gradient for {0}, which is a number: torch accepts only None, and raises an error"
)
TOO_FEW = "backward returns {}: torch raises an error where a call gives {} too: return None for it"
WRONG_NUMBER = "backward returns {} for {}: torch raises an error"


def read_others(
    passes: Passes, uses_needs: bool
) -> tuple[tuple[Part, ...], list[Note], frozenset[str], frozenset[str]]:
    """Read the gradients that backward returns for all inputs but the first.

    ``uses_needs`` is whether the code reads ``ctx.needs_input_grad``.

    Returns:
        The gradients that could be read; notes for the user; the parameters whose gradients could not be
        read; and the parameters whose gradients are computed only if they are needed.
    """
    parts, notes, unread, guarded = list[Part](), list[Note](), set[str](), set[str]()
    inputs, parameters = passes.inputs, passes.reader.parameters
    for position, value in enumerate(passes.returned):
        if position == 0 or value is None:
            continue
        source_name = inputs[position] if position < len(inputs) else f"input {position + 1}"
        name = parameters.get(source_name, source_name)
        try:
            require(position < len(inputs), NO_NAME)
            part = _read_part(passes, position, source_name, uses_needs)
            guarded |= {name} if uses_needs and passes.find_gradient(position, {0}) is None else set()
            parts.append(part)
            notes += map(Note, list_shape_notes(value, source_name))
        except (ReadingError, UnreadableError) as reason:
            unread.add(name)
            named = source_name if name == source_name else f"{source_name} (here {name})"
            words = reason if isinstance(reason, ReadingError) else f"it {reason}"
            kind = "hangs" if isinstance(reason, ConditionalGradientError) else "unread"
            notes.append(Note(LEFT_OUT.format(named, words), kind))
    return tuple(parts), notes, frozenset(unread), frozenset(guarded)


def _read_part(passes: Passes, position: int, name: str, uses_needs: bool) -> Part:
    """Return one input's gradient. Raises UnreadableError unless it is a factor times a sum over elements."""
    reader, value = passes.reader, passes.returned[position]
    require(name in reader.parameters, HAS_A_VALUE.format(name))
    part = split_gradient(value, reader.parameters[name], reader.notes)
    for needed in ({0, position}, {position}) if uses_needs else ():
        is_equal = _is_same(value, passes.find_gradient(position, needed))
        require(is_equal, GUARDED.format(name, position), ConditionalGradientError)
    return part


def list_faults(passes: Passes, uses_needs: bool) -> list[Note]:
    """Return notes on faults of the gradients that backward returns.

    Faults are gradients that are missing, rejected by torch, or dependent on whether other inputs need one.
    """
    gradient, parameters = take_first(passes.gradients), passes.reader.parameters
    tensors = passes.saved.intersection(find_names(passes.op))
    pairs = zip(passes.inputs[1:], passes.returned[1:], strict=False)
    silent = [name for name, value in pairs if value is None and parameters.get(name) in tensors]
    given = zip(passes.reader.inputs or (), passes.returned[1:], strict=False)
    refused = [each.name for each, value in given if not each.tensor and value is not None]
    blocked = gradient is None and any(value is not None for value in passes.returned[1:])
    notes = [Note(NO_GRADIENT_FOR_X, "silent")] * blocked
    if passes.outputs > 1:
        notes.append(Note(SEVERAL_OUTPUTS.format(passes.outputs), "unread"))
    if uses_needs and gradient is not None and not _is_same(gradient, passes.find_gradient(0, {0})):
        notes.append(Note(f"the gradient for x {GUARDED.format('x', 0)}", "hangs"))
    notes += [Note(NEVER_LEARNS.format(name), "silent") for name in silent]
    notes += [Note(FOR_A_NUMBER.format(name), "raises") for name in refused]
    return [*notes, *_note_wrong_number(passes)]


def _note_wrong_number(passes: Passes) -> list[Note]:
    if isinstance(passes.gradients, list):
        return [Note(A_LIST, "raises")]
    returned, inputs = list(passes.returned), len(passes.inputs)
    takes = signature(find_method(passes.cls, "forward")).parameters.values()
    needed = inputs - sum(parameter.default is not Parameter.empty for parameter in takes)
    while len(returned) > inputs and returned[-1] is None:  # torch ignores Nones at the end
        returned.pop()
    number = f"{len(returned)} gradient{'s' * (len(returned) != 1)}"
    if Parameter.VAR_POSITIONAL in {each.kind for each in takes} or needed <= len(returned) <= inputs:
        is_short = passes.reader.inputs is None and needed <= len(returned) < inputs
        return [Note(TOO_FEW.format(number, name)) for name in passes.inputs[len(returned) :][:is_short]]
    return [Note(WRONG_NUMBER.format(number, f"{inputs} input{'s' * (inputs != 1)}"), "raises")]


def _is_same(value: Value, other: Value) -> bool:
    if not isinstance(value, Quantity) or not isinstance(other, Quantity):
        return value is other
    return (value.node, value.within, get_sum(value)) == (other.node, other.within, get_sum(other))
