from __future__ import annotations

from tests.catalogue.fixed import OPS

IDENTITY = OPS["identity"]
