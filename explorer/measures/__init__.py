"""Numbers that follow from an op with a rule: its size, its map over x and g, and the table of all rules."""

from explorer.measures.maps import RuleMap, rule_map
from explorer.measures.size import Size, size_of
from explorer.measures.table import Row, compare, lens_distances, row_of, suiting

__all__ = ["Row", "RuleMap", "Size", "compare", "lens_distances", "row_of", "rule_map", "size_of", "suiting"]
