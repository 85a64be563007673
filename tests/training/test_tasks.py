import pytest
import torch

from explorer.training import TASKS


@pytest.fixture(params=TASKS)
def task(request):
    return TASKS[request.param]


def test_data_fits_the_net_and_the_loss(task):
    generator = torch.Generator().manual_seed(0)
    x, y = task.data(generator, 8)
    w1, w2 = task.weights(generator, task.inputs, 5, task.outputs)
    assert x.dtype == w1.dtype == w2.dtype == torch.float32
    assert len(x) == len(y) >= 8
    assert (w1.shape, w2.shape) == ((task.inputs, 5), (5, task.outputs))
    assert task.loss(x.mm(w1).mm(w2), y).shape == ()


def test_data_comes_from_the_generator_alone(task):
    torch.manual_seed(1)
    first, _ = task.data(torch.Generator().manual_seed(0), 8)
    torch.manual_seed(2)
    second, _ = task.data(torch.Generator().manual_seed(0), 8)
    other, _ = task.data(torch.Generator().manual_seed(1), 8)
    assert torch.equal(first, second)
    assert not torch.equal(first, other)


def test_entries_stand_under_their_own_key():
    assert all(task.key == key for key, task in TASKS.items())
    assert all(task.label and task.purpose.endswith(".") for task in TASKS.values())


def test_documents_loss_is_the_sum_of_squares():
    prediction, y = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, -1.0]])
    assert TASKS["documents"].loss(prediction, y).item() == 13.0
