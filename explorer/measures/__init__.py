"""Measures of backward rules: their size, their map over x and g, and a table of all rules for an op."""

from explorer.measures.maps import RuleMap, rule_map
from explorer.measures.size import measure_size
from explorer.measures.table import compare, compute_lens_distances, list_suitable_rules, make_row
