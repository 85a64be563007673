"""Coloured code: nothing is lost, and each part has its kind."""

from explorer.lessons.highlighting import highlight

PARTS = '''class A:  # a comment
    """Of more
    lines."""
    def f(self, n=1.5e-3):
        return f"{n!r} {{}}", None, "x³"
'''


def test_each_part_has_its_kind_and_nothing_is_lost_of_any_source():
    for source in ("", "\n", "x", "x = 1  # no end", PARTS):
        assert "".join(text for _, text in highlight(source)) == source
    parts = highlight(PARTS)

    def of(kind: str) -> list[str]:
        return [text for one, text in parts if one == kind]

    assert of("keyword") == ["class", "def", "return", "None"]
    assert of("name") == ["A", "f"]
    assert of("number")[0] == "1.5e-3"
    assert of("comment") == ["# a comment"]
    assert of("string")[0] == '"""Of more\n    lines."""'
    assert of("string")[-1] == '"x³"'
    assert "self" not in "".join(of("keyword") + of("name"))
