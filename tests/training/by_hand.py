"""Nets written a second time, in torch's words: with them layers and instruments are compared.

A layer is its weights (inputs, units) and biases (1, units). ``op`` is called with its input and the number
of its layer. Returned is what the op, or the relu in its place, returns in each layer, and the outputs.
"""

import torch
from torch.nn import functional


def read_layers(run, member=0):
    return [[each[member] for each in views] for views in run.nets.ensemble.parameter_views if views]


def run_dense(x, layers, op, *, on_weights=False):
    seen = []
    for number, (w, b) in enumerate(layers):
        if number:
            seen.append(x.relu() if on_weights else op(x, number - 1))
        unit = len(w) ** 0.5
        x = (seen[-1] if seen else x) @ (op(w * unit, number) / unit if on_weights else w) + b
    return seen, x


def run_maps(x, layers, op, *, on_weights=False):
    """By torch's own convolution and pooling, channels first: images of 8 × 8."""
    maps, seen = x.unflatten(1, (1, 8, 8)), []
    for number, (w, b) in enumerate(layers[:-1]):
        unit = len(w) ** 0.5
        kernels = (op(w * unit, number) / unit if on_weights else w).T.unflatten(1, (-1, 3, 3))
        stride = 2 if number and maps.shape[2] > 2 else 1
        maps = functional.conv2d(maps, kernels, b[0], stride=stride, padding=1)
        seen.append(maps.relu() if on_weights else op(maps, number))
        maps = seen[-1] if number else functional.avg_pool2d(seen[-1], 2)
    w, b = layers[-1]
    return seen, maps.flatten(1) @ w + b


def run_spikes(x, layers, op, times=8):
    """Leaky units; each layer's spikes, pixels first, are a list over the times."""
    fires = ((1 - x) * (times - 1)).round().long()
    seen = [[((fires == time) & (x > 0.1)).float() for time in range(times)]]
    for number, (w, b) in enumerate(layers[:-1]):
        v = z = torch.zeros(len(x), w.shape[1])
        after = []
        for arriving in seen[-1]:
            v = 0.9 * v * (1 - z.detach()) + arriving @ w + b
            z = op(v - 1, number)
            after.append(z)
        seen.append(after)
    (w, b), v, total = layers[-1], 0, 0
    for arriving in seen[-1]:
        v = 0.9 * v + arriving @ w + b
        total = total + v
    return seen, total / times
