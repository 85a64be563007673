"""The parameter that a study sweeps."""

from __future__ import annotations

from typing import Any

import pytest

from tests.frontend.modules import Node


@pytest.mark.parametrize(("name", "swept"), [("s", "s"), ("target", None)])
def test_a_parameter_of_the_loss_on_explore_cannot_be_swept(
    node: Node, document: dict[str, Any], name: str, swept: str | None
):
    choice = {"op": "noisy_round", "f": "(y - target)**2", "rules": [], "training": {"sweep": name}}
    body = """
        const { setDocument } = await import("./choice/entries.js");
        const { sweptOf } = await import("./study/settings.js");
        setDocument(given.document);
        return sweptOf(given.choice)?.name ?? null;
    """
    assert node.run(body, {"document": document, "choice": choice}) == swept
