from explorer.catalogue import OPS, RULES

ENTRIES = [*OPS.values(), *RULES.values()]
