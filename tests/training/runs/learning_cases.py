from typing import Any

import torch

from explorer.catalogue import Op, Parameter, Rule

WEIGHTS: dict[str, Any] = {
    "task": "ternary weights", "op": "quantize", "rules": ("lsq",), "learn": ("s",),
    "parameters": {"s": 0.5, "qmin": -1.0, "qmax": 1.0}, "optimiser": "momentum", "lr": 0.1, "device": "cpu",
}  # fmt: skip

UNITS: dict[str, Any] = {
    "task": "digits", "op": "clamp", "rules": ("pact",), "learn": ("hi",), "parameters": {"hi": 0.5},
    "optimiser": "adam", "device": "cpu",
}  # fmt: skip

THRESHOLD = Op("threshold", "Threshold", "where(x - t > 0, 1, 0)", parameters=(Parameter("t", 0.2),),
               inner="x - t", outer="q")  # fmt: skip

HILL = Rule("hill", "Hill", "g / (1 + abs(x - t))**2", parameters=THRESHOLD.parameters)

SPIKES: dict[str, Any] = {
    "task": "spikes", "op": THRESHOLD, "rules": (HILL,), "learn": ("t",), "hidden": 6, "device": "cpu",
}  # fmt: skip

OPTIMISERS = {
    "sgd": lambda groups, lr: torch.optim.SGD(groups, lr=lr),
    "momentum": lambda groups, lr: torch.optim.SGD(groups, lr=lr, momentum=0.9),
    "adam": lambda groups, lr: torch.optim.Adam(groups, lr=lr),
}
