"""The question "read": pasted code as ops and rules, with curves that plot each Function.

On the site without a server this runs in the browser, so this module and its imports need no torch.
"""

from explorer.catalogue import find_op, find_rule
from explorer.instrument.choice import to_choice_data
from explorer.questions import Answer
from explorer.reading import Reading, ReadingError, list_initial_values, read_sources


def read_code(code: str) -> Answer:
    """Parse pasted code and return an op and a rule for each Function, with curves to plot.

    The result is ``{"readings": […]}``, or ``{"message": …, "at": …}`` for code that cannot be parsed.
    ``at``, also in a reading, is the line of the first part that cannot be read, or of the first noted fault;
    0 for neither.
    """
    text = code.encode("utf-8", "replace").decode()  # JSON may contain lone surrogates
    try:
        return {"readings": [_encode_reading(reading) for reading in read_sources(text)]}
    except ReadingError as error:
        return {"message": error.message, "at": error.line}


def _encode_reading(reading: Reading) -> Answer:
    heading = {"name": reading.name, "line": reading.line}
    if reading.problem:
        return heading | {"message": reading.problem.message, "at": reading.problem.line}
    op = find_op(reading.op)
    rules = [find_rule(rule) for rule in dict.fromkeys(["default", reading.rule])]
    return heading | {
        "op": op.formula,
        "rule": rules[-1].formula or "torch's own",
        "learned": {learned.name: learned.text for learned in rules[-1].learned},
        "notes": list(reading.notes),
        "at": next((note.line for note in reading.notes if note.line), 0),
        "choice": to_choice_data(op, rules, parameters=list_initial_values(op.parsed.tree)),
    }
