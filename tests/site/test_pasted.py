"""Pasted code where there is no server: the reader in the browser finds what the app's finds."""

from tests.questions.asking import ask as ask_app
from tests.reading.constructs import CONSTRUCTS
from tests.reading.documents import DOCUMENTS_CLAMP, DOCUMENTS_RELU
from tests.reading.learned import PUBLISHED, REFUSED
from tests.reading.plain import PLAIN
from tests.reading.samples import FUNCTIONS
from tests.site.alone import Ask

# Constants at which Python raises, and what is no code or no text.
ODD = tuple(
    f"def f(x):\n    return torch.where(x > {bound}, x, 0)"
    for bound in ("1 / 0", "torch.log(torch.tensor(0.0))", "math.exp(1e9)", "(-8) ** 0.5", "2 ** 9999")
)
WRONG = (
    DOCUMENTS_RELU.replace("x.clamp(min=0)", "sort_it(x)"), "", "x = 3",
    "class F(torch.autograd.Function:\n  pass", "\ud800", "\0", "x" * 20_001,
)  # fmt: skip


def test_the_browser_reads_what_the_app_reads(ask: Ask) -> None:
    samples = [sample.source for sample in (*FUNCTIONS, *PLAIN, *CONSTRUCTS, *PUBLISHED)]
    texts = [*samples, DOCUMENTS_CLAMP, DOCUMENTS_RELU, REFUSED, *ODD, *WRONG]
    result = ask([("read", {"code": text}) for text in texts])
    expected = [ask_app("read", code=text) for text in texts]
    wrong = [
        (text, one, other) for text, one, other in zip(texts, result, expected, strict=True) if one != other
    ]
    assert wrong == []
    choices = [reading.get("choice") for one in expected for reading in one.get("readings", ())]
    assert len([choice for choice in choices if choice]) > 72
    assert None in choices
