"""Maps of one held-out example, beside torch's own convolutions."""

import pytest
import torch
from torch.nn import functional

from explorer.training import Run, Settings

EXAMPLE = 4


@pytest.mark.parametrize("task", ["digits convolution", "binary kernels"])
def test_maps_match_torchs_convolutions(task):
    run = Run(Settings(task=task, rules=("straight_through", "clipped"), seeds=2, device="cpu"), recorded=())
    run.advance(5)
    observed = run.snapshot((f"maps?example={EXAMPLE}",)).measured[f"maps?example={EXAMPLE}"]
    x, y = run.nets.data[0].held_out
    for number, record in enumerate(observed.values()):
        views = [[each[2 * number] for each in own] for own in run.nets.ensemble.parameter_views if own]
        images, first = x[EXAMPLE].view(1, 1, 8, 8), 0
        for layer, (w, b) in enumerate(views[:-1]):
            used = w.sign() / len(w) ** 0.5 if task == "binary kernels" else w
            kernels = used.T.unflatten(1, (-1, 3, 3)).contiguous()
            stride = 2 if layer and images.shape[2] > 2 else 1
            images = functional.conv2d(images, kernels, b[0], stride=stride, padding=1)
            images = images.relu() if task == "binary kernels" else images.sign()
            low, high = images.aminmax()
            ours = torch.from_numpy(record["maps"][first : first + images.numel()]).view(images.shape)
            theirs = (images - low) / (high - low) * 255
            assert (ours - theirs).abs().max() < 1
            assert record["ends"][layer] == pytest.approx((low.item(), high.item()), abs=1e-4)
            assert (record["counts"][layer], record["sides"][layer]) == images.shape[1:3]
            first += images.numel()
            images = images if layer else functional.avg_pool2d(images, 2)
        assert first == len(record["maps"])
        w, b = views[-1]
        assert record["read"] == int((images.flatten(1) @ w + b).argmax())
        assert (record["label"], record["seed"]) == (int(y[EXAMPLE]), 0)
        assert record["words"].startswith(f"a {record['label']} read as {record['read']}; ")


def test_constant_maps_are_counted():
    run = Run(Settings(task="digits convolution", op="formula: 0*x", rules=("default",), hidden=(3, 2)))
    (record,) = run.snapshot(("maps",)).measured["maps"].values()
    assert record["words"].endswith(
        "3 of 3 maps of layer 1 are constant, 2 of 2 maps of layer 2 are constant"
    )
    assert not record["maps"].any()
