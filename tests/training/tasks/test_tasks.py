import pytest
import torch

from explorer.catalogue import find_op, find_rule
from explorer.training import TASKS, Draw
from explorer.training.numerics.losses import cross_entropy, mean_squared_error, squared_error
from explorer.training.tasks import digits
from tests.selection import loop_over, take_part
from tests.training.driving import build
from tests.training.tables import POINTS

DRAWN = [key for key in TASKS if key not in ("documents", "data")]


def draw(seed):
    return Draw(torch.Generator().manual_seed(seed), 8, POINTS)


@pytest.fixture(params=TASKS)
def task(request):
    return TASKS[request.param]


def test_data_fits_the_net_and_the_loss(task):
    data = task.data(draw(0))
    for part in filter(None, (data.train, data.validation, data.held_out)):
        assert part.x.dtype == torch.float32
        assert len(part.x) == len(part.y)
        assert part.x.isfinite().all()
    assert data.widths == task.widths or task.key == "data"
    output = torch.zeros(1, 8, data.outputs)
    losses, gradient = task.loss(output, data.train.y[None, :8])
    assert (losses.shape, gradient.shape) == ((1,), output.shape)


def test_data_comes_from_the_generator_alone(task):
    torch.manual_seed(1)
    first = task.data(draw(0)).train
    torch.manual_seed(2)
    second, other = task.data(draw(0)).train, task.data(draw(1)).train
    assert torch.equal(first.x, second.x)
    assert torch.equal(first.x, other.x) == (task.key != "documents")  # the split of the others is fixed


@pytest.mark.parametrize("key", DRAWN)
def test_held_out_data_is_not_trained_on(key):
    """Rows may be alike (some digits are), but parts are not: they are cut from one shuffled whole."""
    data = TASKS[key].data(draw(0))
    parts = [data.train, data.validation, data.held_out]
    whole = torch.cat([part.x for part in parts])
    assert len(whole) == {"digits": 1797}.get(key, len(whole))
    assert len(data.validation.x) == len(data.held_out.x) >= len(whole) // 5
    assert len({tuple(row) for row in whole.tolist()}) == len(whole)


@pytest.mark.parametrize("key", DRAWN)
def test_the_stated_chance_level_matches_the_most_frequent_class(key):
    classes = TASKS[key].data(draw(0)).held_out.y.bincount() / 1.0
    assert classes.max() / classes.sum() == pytest.approx(TASKS[key].chance, abs=0.03)


def test_every_task_has_its_key_and_its_texts():
    assert all(task.key == key for key, task in TASKS.items())
    assert all(task.label and task.purpose.endswith(".") for task in TASKS.values())
    assert all(task.note.endswith(".") for task in TASKS.values() if task.note)


def test_the_initial_parameters_of_a_task_belong_to_its_op_or_rules(task):
    op, rules = find_op(task.op), [find_rule(rule) for rule in task.rules]
    known = {p.name for entry in (op, *rules) for p in entry.parameters}
    assert set(task.parameters) <= known


def test_a_picture_is_small_and_within_its_frame(task):
    picture = task.picture()
    if picture is None:
        assert task.kind == "own"
    elif task.kind == "plane":
        points = torch.tensor(picture["points"])
        assert points.shape == (90, 3)
        assert points[:, :2].abs().max() <= 1
        assert set(points[:, 2].tolist()) == {0, 1}
    else:
        grid = torch.tensor(picture["grid"])
        assert grid.shape == (8, 8)
        assert 0 <= grid.min() < grid.max() <= 1


def test_the_digits_match_scikit_learn():
    from sklearn.datasets import load_digits  # a second, which not every worker must take

    x, y = digits._load_pixels()
    theirs = load_digits()
    assert (x * 16).equal(torch.tensor(theirs.data, dtype=torch.float32))
    assert y.equal(torch.tensor(theirs.target))
    assert torch.equal(digits.get_first_image(), x[0].view(8, 8))
    held_out = TASKS["digits"].data(Draw(torch.Generator(), 1)).held_out.x
    levels = 16 * (held_out - held_out.min()) / (held_out.max() - held_out.min())
    torch.testing.assert_close(levels, levels.round(), rtol=0, atol=1e-3)


@pytest.mark.parametrize("n", [3, 32])
@pytest.mark.parametrize(
    ("ours", "torchs"),
    [
        (cross_entropy, torch.nn.functional.cross_entropy),
        (mean_squared_error, torch.nn.functional.mse_loss),
        (squared_error, lambda output, y: (output - y).square().sum()),
    ],
)
def test_a_loss_and_its_gradient_match_torchs(ours, torchs, n):
    generator = torch.Generator().manual_seed(0)
    output = (3 * torch.randn(4, n, 5, generator=generator)).requires_grad_()
    classes = torch.randint(5, (4, n), generator=generator)
    y = classes if ours is cross_entropy else torch.randn(4, n, 5, generator=generator)
    expected = torch.stack([torchs(member, answers) for member, answers in zip(output, y, strict=True)])
    (gradient,) = torch.autograd.grad(expected.sum(), output)
    for way in (ours.value, ours.fast_value):
        losses, own = way(output.detach(), y)
        torch.testing.assert_close(losses, expected.detach())
        torch.testing.assert_close(own, gradient)


@pytest.mark.parametrize("answers", [1, 4])
@pytest.mark.parametrize("loss", [cross_entropy, mean_squared_error, squared_error])
def test_losses_of_single_examples_add_up_and_grow_along_directions(loss, answers):
    generator = torch.Generator().manual_seed(0)
    output, directions = (torch.randn(4, many, 5, generator=generator) for many in (6, 3))
    shape = (answers, 6) if loss is cross_entropy else (answers, 6, 5)
    y = torch.randint(5, shape, generator=generator) if loss is cross_entropy else torch.randn(shape)
    before = loss.shares(output.mT.unsqueeze(2), y, 6)[:, 0]
    torch.testing.assert_close(before.sum(1), loss(output, y)[0])
    distances = torch.tensor([-2.0, 0.0, 0.5])
    grown = loss.growth(output.mT, y, 6, directions, distances)
    for number, distance in enumerate(distances):
        moved = output.mT.unsqueeze(2) + distance * directions.mT.unsqueeze(-1)
        torch.testing.assert_close(grown[:, number], loss.shares(moved, y, 6) - before[:, None])


@loop_over("key", take_part(key for key in DRAWN if key != "spikes"))  # which has a shorter test of its own
def test_the_default_rules_of_a_task_differ_on_held_out_data(key):
    """The best is above the worst by more than three standard errors of five seeds, with half the steps."""
    run = build(TASKS[key].steps // 2, task=key, seeds=5)
    ends = [accuracy.astype("f8") for accuracy in run.snapshot().accuracy.values()]
    low, high = (pick(ends, key=lambda each: each.mean()) for pick in (min, max))
    error = ((low.var(ddof=1) + high.var(ddof=1)) / 5) ** 0.5
    assert high.mean() - low.mean() > max(3 * error, 0.04)
    assert high.mean() > 0.85 or key != "digits convolution"  # which reads 0.72 with two maps a layer


def test_spikes_need_a_surrogate_that_is_neither_flat_nor_narrow():
    run = build(40, task="spikes", seeds=2)
    ends = {rule: accuracy.mean() for rule, accuracy in run.snapshot().accuracy.items()}
    assert ends["fast_sigmoid"] > ends["straight_through"] + 0.05 > ends["default"] + 0.1
