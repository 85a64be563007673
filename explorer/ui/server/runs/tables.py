"""A description of the columns of a visitor's table before training."""

import json
from dataclasses import asdict

from explorer.training.tasks.columns import Table
from explorer.training.tasks.survey import make_survey
from explorer.ui.server.admission.request_body import Json
from explorer.ui.server.runs.responses import MAX_START_BYTES, READER_SLOTS, make_route


def _survey(data: Json) -> str:
    """Return a description of the columns of a visitor's table, the JSON of a ``Survey``.

    The body is ``{table: {text, target, without}}``; ``target`` and ``without`` are optional.
    """
    fields = data.get("table")
    table = Table.create(fields)
    is_chosen = isinstance(fields, dict) and (
        fields.get("target") is not None or fields.get("without") is not None
    )
    result = make_survey(table.text, table.target, table.without) if is_chosen else make_survey(table.text)
    return json.dumps(asdict(result))


ROUTES = (
    make_route(
        "/table",
        _survey,
        max_bytes=MAX_START_BYTES,
        refusal="This table cannot be read: {}.",
        slots=READER_SLOTS,
    ),
)
