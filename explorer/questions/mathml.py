"""Convert LaTeX of formulas to MathML, which browsers typeset without additional fonts."""

import re
from html import unescape
from xml.etree.ElementTree import tostring

from latex2mathml.converter import convert_to_element

# Matches words, which would otherwise become an italic element for each letter, or an operator with spaces.
_WORD = re.compile(r"\\(?:(?:mathrm|operatorname)\{([^{}]*)\}|(min|max)(?![a-z]))")
_ELEMENTS = {
    "math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "msub", "msup", "msubsup",
    "mtable", "mtr", "mtd",
}  # fmt: skip
_TYPED = str.maketrans("ϵϕ", "εφ")  # LaTeX's variants of epsilon and phi become the letters that users type


def to_mathml(latex: str) -> str:
    """Return the element ``math`` as XML for a formula printed by ``explorer.formula.latex`` or the app.

    Raises ValueError if the formula needs an element that printed formulas do not use.
    """
    text = _WORD.sub(lambda word: r"\text{" + (word[1] or word[2]).replace(r"\_", "_") + "}", latex)
    root = convert_to_element(text, display="block")
    for node in root.iter():
        if node.tag not in _ELEMENTS:
            raise ValueError(f"{node.tag} is not among the elements of formulas")
        if node.tag in ("mo", "mtd"):
            node.attrib.clear()  # browsers stretch brackets anyway, and ignore the alignment of a cell
        node.text = node.text and unescape(node.text).translate(_TYPED)  # tostring escapes it again
    return tostring(root, encoding="unicode")
