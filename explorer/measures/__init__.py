"""Numbers that follow from an op with a rule: its size, and the table of all rules that suit an op."""

from explorer.measures.size import Size, size_of
from explorer.measures.table import Row, compare, row_of, suiting

__all__ = ["Row", "Size", "compare", "row_of", "size_of", "suiting"]
