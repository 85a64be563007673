"""A visitor's table: what was read of it is told before anything is trained."""

import json
from dataclasses import asdict

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from explorer.training.tasks.columns import Table
from explorer.training.tasks.survey import survey
from explorer.ui.server.admission.request_body import Json
from explorer.ui.server.runs.responses import LONGEST_START, READERS, answered


async def surveyed(request: Request) -> Response:
    """The ``Survey`` of a table: ``{table: {text, target, without}}``; the last two may be missing."""
    refusal = "This table cannot be read: {}."
    return await answered(_surveyed, request, longest=LONGEST_START, refusal=refusal, seats=READERS)


ROUTES = (Route("/table", surveyed, methods=["POST"]),)


def _surveyed(data: Json) -> str:
    fields = data.get("table")
    table = Table.of(fields)
    is_chosen = isinstance(fields, dict) and (
        fields.get("target") is not None or fields.get("without") is not None
    )
    read = survey(table.text, table.target, table.without) if is_chosen else survey(table.text)
    return json.dumps(asdict(read))
