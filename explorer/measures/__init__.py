"""Measure ops with backward rules: the rule's size, its map over x and g, and a table of all rules."""

from explorer.measures.maps import RuleMap, rule_map
from explorer.measures.size import Size, size_of
from explorer.measures.table import Row, compare, compute_lens_distances, list_suitable_rules, row_of

__all__ = [
    "Row",
    "RuleMap",
    "Size",
    "compare",
    "compute_lens_distances",
    "list_suitable_rules",
    "row_of",
    "rule_map",
    "size_of",
]
