"""Kernels as pictures, beside those with which torch's own convolution does the same."""

import pytest
import torch

from explorer.training.instruments.base import weight_images
from tests.training.driving import build


@pytest.mark.parametrize("task", ["digits convolution", "binary kernels"])
def test_drawn_kernels_match_the_weights_that_the_net_uses(task):
    run = build(5, task=task, rules=("straight_through", "clipped"), hidden=(3, 5), seeds=2, seed=7)
    snapshot = run.snapshot(("kernels", "net"))
    weights = run.weights()
    for rule, record in snapshot.measured["kernels"].items():
        assert (record["seed"], record["of"]) == (7, [[3, 1], [5, 3]])
        assert record["words"] == ("w1: 3 × 1 kernels of 3 × 3; w2: 5 × 3 kernels of 3 × 3")
        for layer, each in enumerate(record["layers"]):
            latent = weights[f"{rule}.7.{layer}.weight"].T.cpu()
            used = torch.where(latent >= 0, 1.0, -1.0) if task == "binary kernels" else latent
            drawn = torch.from_numpy(each["values"]).view(-1, each["columns"]).float()
            torch.testing.assert_close(drawn / 127 * each["largest"], used, rtol=0, atol=0.01)
            assert each["kernel"] == 3
        net = snapshot.measured["net"][rule]["weights"]
        assert [each["kernel"] for each in net] == [3, 3, 0]
        for mine, theirs in zip(record["layers"], net, strict=False):
            assert mine["values"].tolist() == theirs["values"].tolist()


def test_kernels_are_drawn_whole_up_to_the_limit_of_maps(monkeypatch):
    monkeypatch.setattr("explorer.training.instruments.kernels.MAX_MAPS", 2)
    monkeypatch.setattr("explorer.training.instruments.net.MAX_MAPS", 2)
    assert weight_images.MAX_MAPS > 2
    run = build(task="digits convolution", rules=("clipped",), hidden=(3, 5))
    measured = run.snapshot(("kernels", "net")).measured
    record = measured["kernels"]["clipped"]
    assert [len(each["values"]) for each in record["layers"]] == [9 * 2, 18 * 2]
    assert [len(each["values"]) for each in measured["net"]["clipped"]["weights"]] == [9 * 2, 18 * 2, 20 * 10]
    whole = run.weights()["clipped.0.1.weight"]
    drawn = torch.from_numpy(record["layers"][1]["values"]).view(18, 2) / 127 * record["layers"][1]["largest"]
    torch.testing.assert_close(drawn.T, whole[:2, :18], rtol=0, atol=0.01)
