import pytest

from explorer.formula import FormulaError, parse


def refused(text, **given_names):
    with pytest.raises(FormulaError) as caught:
        parse(text, **given_names)
    return caught.value
