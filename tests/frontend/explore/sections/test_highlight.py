"""The colours of code: each part of a source once, and of the kind that Python's own tokenizer finds."""

import io
import keyword
import tokenize

from explorer.snippets import custom_op_snippet, jax_snippet, snippet
from tests.frontend.modules import Node

SPLIT = "explore/sections/highlight.js splitTokens"
ODD = '''@torch.no_grad()
def f(x, y1=1.5e-3, _2=.5):  # a "comment"
    """Return 'x' # not a comment."""
    return "a\\"b" + f'{x}' if x is None else 1_000 * x.T2
'''
KINDS = {tokenize.COMMENT: "comment", tokenize.STRING: "string", tokenize.NUMBER: "number"}


def test_the_kinds_are_those_of_pythons_tokenizer(node: Node) -> None:
    sources = [ODD, *(write("clamp", "masked") for write in (snippet, custom_op_snippet, jax_snippet))]
    for source in sources:
        tokens = node.call(SPLIT, source)
        assert "".join(token["text"] for token in tokens) == source
        found = [(token["kind"], token["text"]) for token in tokens if token["kind"]]
        expected = []
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.NAME and keyword.iskeyword(token.string):
                expected.append(("keyword", token.string))
            elif token.type in KINDS:
                expected.append((KINDS[token.type], token.string))
        assert [each for each in found if not each[1].lstrip().startswith("@")] == expected


def test_text_that_is_not_python_is_highlighted_without_errors(node: Node) -> None:
    for source in ("", "'", '"""', "'''a", "#", "\\", "\n\n", "1e", "@"):
        assert "".join(token["text"] for token in node.call(SPLIT, source)) == source
