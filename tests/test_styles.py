"""Style sheets: sizes and colours come from one file, and every class that is styled is worn by something."""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from explorer.instrument.assets import read_skeleton_css
from explorer.instrument.modules import MODULES, list_sources

TOKENS = MODULES / "elements" / "tokens.css"
SHEETS = [sheet for sheet in list_sources("css") if sheet != TOKENS]
SHEETS += [MODULES.parent / "instrument" / "skeleton.css"]
SIZES = ("tiny", "small", "plain", "large", "title", "headline", "display")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
COLOUR = re.compile(r"#[0-9a-f]{3,8}\b|\b(?:rgba?|hsla?|oklab|oklch|lab|lch)\(", re.IGNORECASE)
# A colour in code: in the syntax of CSS, by its name where a colour belongs, or as three numbers.
LITERAL = re.compile(
    r"""["'`: ]\#(?:[0-9a-fA-F]{3}){1,2}\b|\b(?:rgb|hsl)a?\([0-9]"""
    r"""|(?:colou?rs?|fill|stroke\w*|ground)\W{1,4}["'](?:black|white|gr[ae]y|red|green|blue|\w+orange|royalblue)\b"""
)
TRIPLE = re.compile(r"[\[(](\d+), (\d+), (\d+)[\])]")
TABLES = {"catalogue/colours.py", "frontend/elements/tokens.css"}
MAY_NAME_COLOURS = {
    "frontend/chart/plotly/plotly.js": "charts are laid out before a page has style; equal by a test",
    "frontend/learn/pictures/paper.js": "what is printed is black on white in any theme; equal by a test",
    "frontend/class/invitation.js": "a camera reads black on white in any theme",
    "frontend/elements/colours.js": "examples of the syntax in a comment",
    "frontend/learn/pictures/suspects.js": "a width, a height and a margin",
    "snippets/random_cells.py": "source code that people run without this package",
}
SPACING = re.compile(r"(?:(?:row-|column-)?gap|padding[\w-]*|margin[\w-]*): ")
LITERALS = {  # what is no step of the scale
    "sheet": "lengths on paper",
    "skeleton": "room for Streamlit's menu and links",
    "cards": "a dialog's Close", "elements": "a notice's Close", "presenting": "Leave",
    "slow-motion": "Close, and half of a mark",
    "net": "names wider than their plates", "train": "names wider than their tiles",
}  # fmt: skip
SHAPE = re.compile(r"(?:padding|border|background)[\w-]*: ")
OWN_SHAPES = {  # buttons that are no kind of elements.css
    ".training .slow .slow-rules button": "its rule's colour",
    ".tasks button": "a picture above its name",
    ".drawings button": "a picture next to its number, four to a row",
}
THEMED = re.compile(r"var\((--st-[\w-]+), (#[0-9a-f]{6})\)")


def text_of(sheet: Path) -> str:
    return COMMENT.sub("", sheet.read_text(encoding="utf-8"))


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.stem)
def test_a_sheet_names_sizes_and_colours_and_has_none_of_its_own(sheet):
    text = text_of(sheet)
    sizes = re.findall(r"[\s;{]font(?:-size)?: ([^;]+);", text)
    named = re.compile(
        rf"(?:inherit|var\(--(?:unit|{'|'.join(SIZES)})\).*"
        r"|(?:max\(1em, )?var\(--smallest-type\)\)?(?: !important)?)"
    )
    assert [size for size in sizes if not named.fullmatch(size)] == []
    assert COLOUR.findall(re.sub(r"\[[^\]]*\]", "", text)) == []


def list_declarations(text: str) -> Iterator[tuple[list[str], str]]:
    """Yield each declaration of a sheet with the selectors around it, outermost first."""
    around: list[str] = []
    for part in re.findall(r"[^{};]+[{;]|}", text):
        if part == "}":
            around.pop()
        elif part.endswith("{"):
            around.append(part[:-1].strip())
        else:
            yield list(around), part[:-1].strip()


def test_spacings_are_steps_of_the_scale():
    names = re.findall(r"--(space-\d): ", text_of(TOKENS))
    assert 5 <= len(names) <= 7
    found = {
        sheet.stem
        for sheet in SHEETS
        for _, text in list_declarations(text_of(sheet))
        if SPACING.match(text) and re.search(r"(?<![\w-])-?\d*\.?\d+(?!px)[a-z]+", text)
    }
    assert found == set(LITERALS)


def test_buttons_have_their_shapes_from_elements():
    code = "\n".join(path.read_text(encoding="utf-8") for path in list_sources("js"))
    worn = re.findall(r'"button",\s*\{[^}]*?class: "([\w-]+)', code)
    button = re.compile(rf"(?<![.\w-])button|\.(?:file-button|{'|'.join(worn)})(?![\w-])")
    found = set()
    for sheet in SHEETS:
        for around, text in list_declarations(text_of(sheet)):
            inner = [part for part in around if part[0] not in "@&"][-1:]
            subjects = [piece.split()[-1] for piece in re.split("[,()]", "".join(inner)) if piece.strip()]
            if SHAPE.match(text) and any(map(button.search, subjects)) and sheet.stem != "elements":
                found.add(" ".join(around[-2:]))
    assert found == set(OWN_SHAPES)


def test_the_type_scale_has_seven_ascending_sizes():
    declared = re.findall(r"--(?!space)(\w+): (?:calc\(([\d.]+) \* )?var\(--unit\)\)?;", text_of(TOKENS))
    assert tuple(name for name, _ in declared) == SIZES
    assert all(float(a or 1) < float(b or 1) for (_, a), (_, b) in pairwise(declared))
    assert not re.search(r"font(?:-size)?: (?!max\(15px|15px)", text_of(TOKENS))


def test_a_colour_of_the_theme_has_one_name_and_both_themes():
    light, _, dark = text_of(TOKENS).partition("@media (prefers-color-scheme: dark)")
    used = THEMED.findall(light)
    names = [name for name, _ in used]
    assert sorted(names) == sorted(set(names)), "two names for one colour"
    assert set(re.findall(r"(--st-[\w-]+):", dark)) == set(names)
    for name, colour in used:
        (other,) = re.findall(rf"{name}: (#[0-9a-f]{{6}});", dark)
        assert other != colour
    others = [name for sheet in SHEETS for name in re.findall(r"var\((--st-[\w-]+)", text_of(sheet))]
    assert set(others) <= {"--st-font"}, "a colour of the theme has its name in tokens.css"


def test_a_colour_is_written_in_the_tables_of_colours_alone():
    package = MODULES.parent
    files = [path for path in package.rglob("*.*") if path.suffix in {".py", ".js", ".css", ".html"}]
    found = {path.relative_to(package).as_posix() for path in files if has_colour(path)}
    assert found - TABLES == set(MAY_NAME_COLOURS)


def has_colour(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    numbers = [sorted(map(int, triple)) for triple in TRIPLE.findall(text)]
    return LITERAL.search(text) is not None or any(64 <= each[2] <= 255 and each[1] > 20 for each in numbers)


def test_every_token_is_used_and_defined():
    pages = [page.read_text(encoding="utf-8") for page in (MODULES.parent / "instrument").glob("*.html")]
    styles = "\n".join([read_skeleton_css(), *pages, *(text_of(sheet) for sheet in SHEETS)])
    code = "\n".join(path.read_text(encoding="utf-8") for path in list_sources("js"))
    defined = {*re.findall(r"(--[\w-]+):", COMMENT.sub("", styles)), *re.findall(r'"(--[\w-]+)"', code)}
    used = set(re.findall(r"var\((--[\w-]+)", styles))
    assert used - defined - {name for name in used if name.startswith("--st-")} == set()
    tokens = set(re.findall(r"\n  (--[\w-]+):", text_of(TOKENS)))
    named = set(re.findall(r"--[\w-]+", code)) | {f"--{name}" for name in re.findall(r'"([\w-]+)"', code)}
    assert {name for name in tokens if not name.startswith("--st-")} - used - named == set()


def test_every_class_that_is_styled_is_in_the_code():
    files = [path for path in MODULES.parent.rglob("*.*") if path.suffix in {".js", ".html", ".py"}]
    code = "\n".join(path.read_text(encoding="utf-8") for path in files)
    prefixes = ("st", *re.findall(r"[\w-]+-(?=\$\{)", code))  # of Streamlit, and as in `code-${kind}`
    styled = set(re.findall(r"\.([a-z][\w-]*)", "\n".join(map(text_of, SHEETS))))
    unknown = styled - set(re.findall(r"[\w-]+", code))
    assert {name for name in unknown if not name.startswith(prefixes)} == {"yaxislayer-above"}  # of Plotly


def test_no_module_draws_text_on_a_canvas_where_no_style_reaches_it():
    files = list_sources("js")
    assert len(files) > 200
    assert not [file.name for file in files if re.search(r"\.(fill|stroke)Text\(", file.read_text("utf-8"))]
