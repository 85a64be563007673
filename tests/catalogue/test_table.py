from pathlib import Path

from explorer.catalogue.table import make_page

ROOT = Path(__file__).parents[2]


def test_the_page_of_the_catalogue_is_up_to_date():
    written = (ROOT / "docs" / "catalogue.md").read_text(encoding="utf-8")
    assert make_page() == written, "run: python -m explorer.catalogue.table docs/catalogue.md"
