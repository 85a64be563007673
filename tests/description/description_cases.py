from tests.catalogue.fixed import RULES

STE, DEFAULT, PUBLISHED = (RULES[key].label for key in ("straight_through", "default", "published_clamp"))
