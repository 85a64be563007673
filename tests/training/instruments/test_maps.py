"""Maps of one held-out example, beside torch's own convolutions."""

import pytest
import torch

from tests.training.by_hand import read_layers, run_maps
from tests.training.driving import measure

EXAMPLE = 4


@pytest.mark.parametrize("task", ["digits convolution", "binary kernels"])
def test_maps_match_torchs_convolutions(task):
    rules = ("straight_through", "clipped")
    run, observed = measure(f"maps?example={EXAMPLE}", 5, task=task, rules=rules, seeds=2)
    x, y = run.nets.data[0].held_out
    for number, record in enumerate(observed.values()):
        layers, first = read_layers(run, 2 * number), 0
        seen, outputs = run_maps(x[[EXAMPLE]], layers, lambda x, _: x.sign(), on_weights="binary" in task)
        for layer, images in enumerate(seen):
            low, high = images.aminmax()
            ours = torch.from_numpy(record["maps"][first : first + images.numel()]).view(images.shape)
            theirs = (images - low) / (high - low) * 255
            assert (ours - theirs).abs().max() < 1
            assert record["ends"][layer] == pytest.approx((low.item(), high.item()), abs=1e-4)
            assert (record["counts"][layer], record["sides"][layer]) == images.shape[1:3]
            first += images.numel()
        assert first == len(record["maps"])
        assert record["read"] == int(outputs.argmax())
        assert (record["label"], record["seed"]) == (int(y[EXAMPLE]), 0)
        assert record["words"].startswith(f"a {record['label']} read as {record['read']}; ")


def test_constant_maps_are_counted():
    still = {"task": "digits convolution", "op": "formula: 0*x", "rules": ("default",), "hidden": (3, 2)}
    (record,) = measure("maps", **still)[1].values()
    said = "3 of 3 maps after w1 are constant, 2 of 2 maps after w2 are constant"
    assert record["words"].endswith(said)
    assert not record["maps"].any()
