"""A description of the columns of a visitor's table before training."""

import json
from dataclasses import asdict

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from explorer.training.tasks.columns import Table
from explorer.training.tasks.survey import make_survey
from explorer.ui.server.admission.request_body import Json
from explorer.ui.server.runs.responses import MAX_START_BYTES, READER_SLOTS, answer_request


async def survey_table(request: Request) -> Response:
    """Handle a POST request for a description of the columns of a visitor's table.

    The body is ``{table: {text, target, without}}``; ``target`` and ``without`` are optional. Returns a
    ``Survey``.
    """
    refusal = "This table cannot be read: {}."
    return await answer_request(
        _survey, request, max_bytes=MAX_START_BYTES, refusal=refusal, slots=READER_SLOTS
    )


ROUTES = (Route("/table", survey_table, methods=["POST"]),)


def _survey(data: Json) -> str:
    fields = data.get("table")
    table = Table.create(fields)
    is_chosen = isinstance(fields, dict) and (
        fields.get("target") is not None or fields.get("without") is not None
    )
    result = make_survey(table.text, table.target, table.without) if is_chosen else make_survey(table.text)
    return json.dumps(asdict(result))
