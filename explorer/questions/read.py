"""Pasted code as the page shows it: each Function with the choice that draws it.

On the site without a server this runs in the browser: it and all it imports need no torch.
"""

from explorer.catalogue import find_op, find_rule
from explorer.instrument.choice import choice_data
from explorer.questions import Answer
from explorer.reading import Reading, ReadingError, beginnings, read_sources


def read_code(code: str) -> Answer:
    """The ``readings`` of pasted code; a ``message`` where it is no code.

    ``at`` is the line of what cannot be read, or of the first fault that is noted; 0 for none.
    """
    text = code.encode("utf-8", "replace").decode()  # JSON may hold halves of characters
    try:
        return {"readings": [_shown(reading) for reading in read_sources(text)]}
    except ReadingError as error:
        return {"message": error.message, "at": error.line}


def _shown(reading: Reading) -> Answer:
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
        "choice": choice_data(op, rules, parameters=beginnings(op.parsed.tree)),
    }
