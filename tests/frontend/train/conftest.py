"""The document of the browser, for the modules of the page of trainings."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from explorer.instrument.view import View, to_view_data
from explorer.ui.server import answers
from tests.frontend.modules import Node

Run = Callable[..., Any]


@pytest.fixture(scope="package")
def document() -> dict[str, Any]:
    text = next(file.content for name, file in answers.get_files().items() if name.endswith("/document.json"))
    return json.loads(text)


@pytest.fixture
def tell(node: Node, document: dict[str, Any]) -> Run:
    """Gives what a function of a module of the room returns for arguments."""

    def told(module: str, name: str, *given: Any) -> Any:
        body = f"""
            const {{ {name} }} = await import("./train/{module}.js");
            return {name}(...given.given);
        """
        return node.run(body, {"document": document, "given": given})

    return told


def choice(op, *rules, parameters=None, **training):
    shown = [{"key": key, "slot": slot, "hidden": False} for slot, key in enumerate(rules)]
    common = to_view_data(View()) | {"bounds": {}, "slow": ""}
    return {"op": op, "rules": shown, "parameters": parameters or {}, "training": training, **common}


def rules_of(choice: dict[str, Any]) -> list[str]:
    return [rule["key"] for rule in choice["rules"]]
