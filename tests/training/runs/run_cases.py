import torch

from explorer.training import Run, Settings

DOCUMENTS = Settings(device="cpu")


SMALL = Settings(steps=40, hidden=8, batch=4, rules=("default", "straight_through"), device="cpu")


BREAKS = "formula: g / 0"


def trained(asked, steps=None):
    result = Run(asked)
    result.advance(asked.steps if steps is None else steps)
    return result


def curves(finished):
    return {rule: losses.tolist() for rule, losses in finished.snapshot().losses.items()}


def assert_equal_states(one, other):
    one, other = one.state_dict(), other.state_dict()
    assert one["step"] == other["step"]
    assert one["nets"]["lanes"] == other["nets"]["lanes"]
    pairs = zip(
        [*one["generators"], *one["nets"]["tensors"], *one["series"].values()],
        [*other["generators"], *other["nets"]["tensors"], *other["series"].values()],
        strict=True,
    )
    for mine, theirs in pairs:
        torch.testing.assert_close(mine, theirs, rtol=0, atol=0, equal_nan=True)
