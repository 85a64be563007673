"""The types of what the server streams: the browser's half has them as they are in Python."""

import json
import re

from explorer.training import Run, Settings, Status
from explorer.ui.server.runs import records, stream

TYPEDEF = re.compile(r"@typedef \{\{(.*?)\}\} (\w+)\n", re.DOTALL)
FIELD = re.compile(r"(\w+)\??: ")


def test_the_browser_has_the_types_of_what_is_streamed():
    remedy = "run: python -m explorer.ui.server.runs.records"
    assert records.render_module() == records.FILE.read_text(encoding="utf-8"), remedy


def test_an_event_has_the_fields_that_its_types_name():
    fields = {name: set(FIELD.findall(text)) for text, name in TYPEDEF.findall(records.render_module())}
    run = Run(Settings(task="circles", rules=("default", "clipped"), hidden=4, steps=3, device="cpu"))
    run.advance(1)
    event = json.loads(stream.format_event(Status("", "running", "", snapshot=run.snapshot())))
    assert set(event) == fields["Status"] | fields["Fields"]
    assert set(event["snapshot"]) == fields["Snapshot"]
    assert set(event["recorded"]) == fields["Recorded"]
    assert set(event["snapshot"]["gradients"]["default"]) == fields["Gradients"]
    assert event["snapshot"]["loss_low"] == {}, "the range over one seed is not sent"
