"""The ops and rules that draw nothing: functions of x, which most tests loop over."""

from explorer import catalogue
from explorer.catalogue import Op, Rule
from explorer.catalogue.entries import Entries

OPS: Entries[Op] = Entries(op for op in catalogue.OPS.values() if not op.is_random)
_FAMILIES = {op.family for op in OPS.values()}
RULES: Entries[Rule] = Entries(
    rule
    for rule in catalogue.RULES.values()
    if not rule.is_random and (_FAMILIES.intersection(rule.suits) or not rule.suits)
)
