"""What holds for every test: one torch thread, and no time limit on single examples."""

from __future__ import annotations

import torch
from hypothesis import settings

torch.set_num_threads(1)
settings.register_profile("explorer", deadline=None)
settings.load_profile("explorer")
