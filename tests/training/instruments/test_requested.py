import numpy as np
import pytest
import torch

from explorer.catalogue import RULES
from explorer.training.instruments.line_search import DISTANCES
from tests.training.driving import build


def test_the_formula_is_evaluated_for_one_unit():
    run = build(task="digits", op="sign", rules=("clipped", "default"), parameters={"c": 0.3})
    result = run.measure("unit", layer=0, cause=2)
    clipped, default = result["clipped"], result["default"]
    assert abs(clipped["x"]) > 0.3
    assert clipped["gradient"] == 0 != clipped["g"]
    assert clipped["parameters"] == {"c": 0.3}
    x, g = (f"{clipped[name]:.3g}".replace("-", "−") for name in "xg")
    assert clipped["words"] == f"g = {g}, x = {x}, c = 0.3: {RULES['clipped'].formula} = 0"
    assert default["formula"] == "torch's own gradient of sign(x)"
    passed = run.measure("unit", layer=0, cause=0)
    assert abs(passed["clipped"]["x"]) <= 0.3
    assert passed["clipped"]["gradient"] == passed["clipped"]["g"]
    assert passed["default"] is None


@pytest.mark.parametrize(("numbers", "why"), [
    ({"layer": 1}, "layer must be from 0 to 0, not 1"),
    ({"layer": 2, "cause": 4}, "cause must be from 0 to 3, not 4; layer must be from 0 to 0, not 2"),
    ({"layer": 0, "unit": 1}, "unit takes layer, cause, not unit"),
])  # fmt: skip
def test_an_invalid_unit_is_refused_with_a_reason(numbers, why):
    with pytest.raises(ValueError, match=f"^{why}$"):
        build(task="circles", hidden=8).measure("unit", **numbers)


@pytest.mark.parametrize("task", ["digits", "binary weights", "spikes", "documents", "binary kernels"])
def test_a_unit_of_any_layer_with_the_op_can_be_requested(task):
    run = build(task=task)
    run.measure("unit")
    last = len(run.recorder._nets.op_layers) - 1
    assert run.snapshot().most["unit"] == {"layer": last, "cause": 3}
    run.measure("unit", layer=last, cause=3)


def test_measure_refuses_other_kinds_of_instruments():
    with pytest.raises(ValueError, match='unknown instrument "causes": use one of line_search, slow_motion'):
        build(task="circles").measure("causes")


LEARNS = {"op": "clamp", "rules": ("pact",), "learn": ("hi",), "learn_rate": 30.0, "optimiser": "momentum"}


@pytest.mark.parametrize("given", [{}, LEARNS], ids=["fixed", "learns"])
@pytest.mark.parametrize("task", ["digits", "documents", "binary weights", "digits convolution"])
def test_line_search_losses_match_nets_that_took_the_step(task, given):
    run = build(2, task=task, **{"rules": ("straight_through",), **given})
    (result,) = run.measure("line_search").values()
    ensemble, nets = run.nets.ensemble, run.recorder._nets
    own = zip(ensemble.layers, ensemble.parameter_views, nets.current_pass.gradients, strict=True)
    squares = [(layer.length(each) ** 2, layer.size(g) ** 2) for layer, each, g in own if layer.shapes]
    weights, gradient = map(sum, zip(*squares, strict=True))
    before, flat = ensemble.parameters.clone(), nets.current_pass.flat.clone()
    if given:
        for values in (each for own in ensemble.rows.view_learned(flat) for each in own):
            assert values.all()
            values.mul_(given["learn_rate"])
    before_any = ensemble.observe(nets.x, nets.targets, nets.task.loss)
    assert result["loss"] == pytest.approx(before_any.losses[0].item())
    for number in (0, 10, 20):
        ensemble.parameters.copy_(before - DISTANCES[number] * (weights / gradient).sqrt() * flat)
        loss = ensemble.observe(nets.x, nets.targets, nets.task.loss).losses[0].item()
        assert result["losses"][number] == pytest.approx(loss, rel=1e-4)
    assert np.all(np.diff(result["distances"]) > 0)
    assert len(result["losses"]) == 21


def test_line_search_without_a_gradient_is_flat():
    still = {"task": "binary weights", "rules": ("default", "straight_through"), "bias": False}
    run, alone = build(3, **still), build(6, **still)
    losses = run.measure("line_search")["default"]
    np.testing.assert_allclose(losses["losses"], losses["loss"], rtol=1e-6)
    run.advance(3)
    assert torch.equal(run.nets.ensemble.parameters, alone.nets.ensemble.parameters)
