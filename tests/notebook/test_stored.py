"""The bytes that a notebook stores, with its widgets' state and without; and what is printed."""

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
SHOWN = "import explorer\nexplorer.instrument('clamp', ['default', 'masked'])"


def execute(*sources: str, store: bool) -> Any:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    client = NotebookClient(
        notebook, timeout=200, store_widget_state=store, resources={"metadata": {"path": str(ROOT)}}
    )
    return client.execute()


@pytest.fixture(scope="module")
def stored() -> Any:
    return execute(SHOWN, SHOWN, SHOWN, store=True)


def test_three_instruments_take_little(stored: Any) -> None:
    state = stored.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"]
    assert len(nbformat.writes(stored)) < 1_200_000
    assert sum(len(model.get("buffers", [])) for model in state.values()) == 1  # code and plotly.js, once
    del stored.metadata["widgets"]
    assert len(nbformat.writes(stored)) < 45_000
    for cell in stored.cells:
        shown = [kind for output in cell.outputs for kind in output.data]
        assert shown.count("image/png") == shown.count("application/vnd.jupyter.widget-view+json") == 1


def test_importing_prints_nothing_where_there_are_no_widgets() -> None:
    """IPython's kernel is what tqdm looks for; without ipywidgets it would warn."""
    blocked = "import sys; sys.modules.update({'ipywidgets': None, 'anywidget': None})"
    bar = "from explorer.study.conduct import progress_bar; progress_bar(total=2, disable=True).close()"
    ran = execute(blocked, "import explorer", bar, store=False)
    assert not any(cell.outputs for cell in ran.cells)


def test_the_notebook_of_the_documentation_is_executed_and_small() -> None:
    path = ROOT / "docs" / "notebook.ipynb"
    assert path.stat().st_size < 100_000
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == [*range(1, len(cells) + 1)]
    outputs = [output for cell in cells for output in cell.outputs]
    assert not any(output.output_type == "error" for output in outputs)
    assert json.dumps(outputs).count("image/png") == 2
    source = "\n".join(cell.source for cell in cells)
    source = source.replace("seeds=3", "seeds=2").replace("steps=200", "steps=2")
    names: dict[str, Any] = {}
    exec(compile(source, "notebook.ipynb", "exec"), names)  # our own text
    assert names["explorer"].check(names["Repaired"]).failures == []
    assert len(names["result"].frame) == 4 * 2
