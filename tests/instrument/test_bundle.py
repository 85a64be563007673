"""The browser's modules in two files: the same exports, each module once, and nothing that is misread."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from explorer.instrument import bundle, modules
from explorer.instrument.assets import FIRST_MODULE, LATER

TREE = {
    "pages/first.js": """// import { nothing } from "./none.js";
import { add, counted } from "../low/add.js";
import { EVEN, KINK as kink, Point } from "../low/names.js";
import * as all from "../low/names.js";

/** Loaded later. @returns {Promise<import("../late/late.js").Late>} */
export async function told() {
  const { late } = await import("../late/late.js");
  const one = await import("../late/panels/a.js");
  const here = new URL("names.json", import.meta.url).href.split("/").slice(-2);
  return [add(EVEN, kink), Object.keys(all), new Point().x, late(), one.panel, counted(), here];
}
""",
    "low/names.js": """export const [EVEN, KINK] = [1, 2];
export class Point {
  x = 3;
}
export function* numbers() {
  yield "export const not = 1;";
}
""",
    "low/add.js": """import { EVEN } from "./names.js";

let count = 0;
export const add = (a, b) => a + b;
export function counted() {
  return (count += EVEN);
}
""",
    "low/types.js": "/** @typedef {number} A */\nexport {};\n",
    "late/late.js": """import { counted } from "../low/add.js";
import { numbers } from "../low/names.js";
import {
  base,
} from "./base.js";

export const late = () => [counted(), base, ...numbers()];
""",
    "late/base.js": 'export const base = "base";\n',
    "late/panels/a.js": 'import { base } from "../base.js";\n\nexport const panel = { base };\n',
    "site/alone.js": "export const alone = 1;\n",
}


def written(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of modules, in the place of ours."""
    monkeypatch.setattr(modules, "MODULES", tmp_path)
    written(tmp_path, TREE | {"package.json": '{"type": "module"}'})
    return tmp_path


def run(script: str) -> object:
    command = ["node", "--input-type=module", "-e", f"console.log(JSON.stringify({script}))"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_a_bundle_does_what_its_modules_do(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    out = tmp_path_factory.mktemp("out")
    written(out, {"package.json": '{"type": "module"}'} | dict(bundle.bundle_modules("pages/first.js")))
    told = [run(f'await (await import("{place}/pages/first.js")).told()') for place in (tree, out)]
    assert told[0] == told[1]
    assert told[0][-1] == ["pages", "names.json"]
    assert not (out / "site/alone.js").exists()
    shared = f'(await import("{out}/low/add.js")).counted === (await import("{out}/pages/first.js")).$modules'
    assert run(f'{shared}["low/add.js"].counted') is True
    assert run(f'(await import("{out}/late/base.js")).base') == "base"


def test_a_module_that_cannot_be_bundled_is_refused(tree: Path) -> None:
    for text in (
        "export default 1;\n", "export let a = 1;\n", 'import "./names.js";\n',
        'export { EVEN } from "./names.js";\n', "const a = await import(name);\n",
        'import whole from "./names.js";\n',
    ):  # fmt: skip
        (tree / "low/add.js").write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=r"low/add\.js: cannot bundle this import or export"):
            bundle.bundle_modules("pages/first.js")


def test_a_page_takes_two_files_of_modules() -> None:
    files = bundle.bundle_modules(FIRST_MODULE)
    at_once = set(modules.collect_imports(FIRST_MODULE))
    first, later = (
        {each for each in files if f'$modules["{each}"] = ' in files[name]} for name in (FIRST_MODULE, LATER)
    )
    assert first == at_once
    assert first | later == set(files) - {LATER}
    assert not first & later
    assert {"train/page/controller.js", "learn/course.js", "study/study.js"} <= later
    assert not any(name.startswith("pages/site") for name in files)


@pytest.mark.parametrize("first", ["pages/standalone.js", "pages/site-explore.js", "pages/site-learn.js"])
def test_a_page_is_one_text_that_needs_no_other_file(first: str) -> None:
    text = bundle.bundle_page(first)
    assert not re.search(r"^(?:import|export) .*from ", text, re.MULTILINE)
    for name in modules.collect_imports(first)[1:]:
        assert text.count(f'$modules["{name}"] = ') == 1
    last_lines = modules.read_module(first)[-200:]
    assert text.endswith(last_lines), "the first module comes last and is not wrapped: it may await"
