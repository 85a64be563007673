"""The data of a race as two tensors or as a loader, with the same batches for every rule."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice, repeat
from typing import Any, TypeAlias

import torch
from torch import Generator, Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset, RandomSampler, SequentialSampler, Subset

_AT_A_TIME = 1024  # number of examples evaluated in one call
_HELD_BACK = 10  # by default, one example in this many is set aside for validation

_LOCK = threading.RLock()  # torch's random state belongs to the process, so only one net at a time may draw

Batch: TypeAlias = tuple[Any, Any]


@dataclass(frozen=True)
class Tensors:
    """Examples as two tensors, x and y, in the same order."""

    x: Tensor
    y: Tensor

    def iterate_batches(self, seed: int, steps: int, size: int) -> Iterator[Batch]:
        """Yield a batch for each step: ``size`` examples, or fewer if there are fewer.

        The seed determines a new order of all examples in each epoch.
        """
        generator, length = Generator().manual_seed(seed), len(self.x)
        size = min(size, length)
        batches: list[Tensor] = []
        while len(batches) < steps:
            order = torch.randperm(length, generator=generator)
            batches += [order[start : start + size] for start in range(0, length - size + 1, size)]
        for indices in batches[:steps]:
            yield self.x[indices], self.y[indices]

    def iterate_all(self) -> Iterator[Batch]:
        """Yield all examples in batches of 1,024."""
        return zip(torch.split(self.x, _AT_A_TIME), torch.split(self.y, _AT_A_TIME), strict=True)

    def split(self) -> tuple[Tensors, Tensors]:
        """Return the examples for training, and a tenth set aside for validation."""
        held_indices, rest = _split_indices(len(self.x))
        return Tensors(self.x[rest], self.y[rest]), Tensors(self.x[held_indices], self.y[held_indices])

    def move_to(self, device: Any) -> Tensors:
        """Return the examples on a device."""
        return self if device is None else Tensors(self.x.to(device), self.y.to(device))

    @property
    def mark(self) -> str:
        """A hash of the values."""
        marks = hashlib.sha256()
        for item in (self.x, self.y):
            marks.update(item.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
        return marks.hexdigest()[:16]


@dataclass(frozen=True)
class Loader:
    """Examples as the batches of a loader or a list, which can be iterated repeatedly."""

    source: Any

    def iterate_batches(self, seed: int, steps: int, size: int) -> Iterator[Batch]:
        """Yield a batch for each step. The loader draws from a random state set by the seed."""
        generator = getattr(self.source, "generator", None)
        if generator is not None:
            generator.manual_seed(seed)
        return islice(self._iterate_epochs(seed, repeat(None)), steps)

    def iterate_all(self) -> Iterator[Batch]:
        """Yield all batches, in the order that the loader has with random seed 0."""
        return self._iterate_epochs(0, (None,))

    def _iterate_epochs(self, seed: int, epochs: Iterable[None]) -> Iterator[Batch]:
        call = _separate_random_state(seed)
        for _ in epochs:
            batches = call(iter, self.source)
            while (batch := call(next, batches, None)) is not None:
                yield _pair(batch)

    def split(self) -> tuple[Loader, Loader]:
        """Return a loader for training and one for a tenth set aside.

        Raises ValueError if that is impossible.
        """
        loader = self.source
        sampler = getattr(loader, "sampler", None)
        if not isinstance(loader, DataLoader) or not isinstance(sampler, RandomSampler | SequentialSampler):
            raise ValueError(
                "no tenth of train can be split off this loader for validation: give validation=…"
            )
        held_indices, rest = _split_indices(len(loader.dataset))  # type: ignore[arg-type]  # its sampler knows the length
        shuffled = isinstance(sampler, RandomSampler)
        return Loader(_copy_loader(loader, rest, shuffled)), Loader(_copy_loader(loader, held_indices, False))

    def move_to(self, _device: Any) -> Loader:
        """Return the loader unchanged: batches are moved one by one."""
        return self

    @property
    def mark(self) -> str:
        """A hash of the values of the first batch."""
        x, y = next(self.iterate_all())
        tensors = [item for item in (x, y) if isinstance(item, Tensor)]
        return Tensors(tensors[0], tensors[-1]).mark if tensors else ""


Data: TypeAlias = Tensors | Loader


@contextmanager
def isolate_random_state() -> Iterator[None]:
    """Return a context that gives one net torch's random state for itself, and restores it afterwards."""
    with _LOCK, torch.random.fork_rng():
        yield


def _separate_random_state(seed: int) -> Callable[..., Any]:
    """Return a function that calls another one with a random state of its own, which begins with the seed."""
    state: Tensor | None = None

    def call(function: Callable[..., Any], *arguments: Any) -> Any:
        nonlocal state
        with torch.random.fork_rng(()):
            torch.manual_seed(seed) if state is None else torch.set_rng_state(state)
            result = function(*arguments)
            state = torch.get_rng_state()
        return result

    return call


def _split_indices(length: int) -> tuple[Tensor, Tensor]:
    order = torch.randperm(length, generator=Generator().manual_seed(0))
    if length < 2:
        raise ValueError("one example is too few to train and validate on: give validation=…")
    held = max(1, length // _HELD_BACK)
    return order[:held], order[held:]


def _copy_loader(loader: DataLoader[Any], indices: Tensor, shuffled: bool) -> DataLoader[Any]:
    return DataLoader(
        Subset(loader.dataset, indices.tolist()), loader.batch_size, shuffled, collate_fn=loader.collate_fn,
        num_workers=loader.num_workers, drop_last=loader.drop_last and shuffled, pin_memory=loader.pin_memory,
    )  # fmt: skip


def _pair(batch: Any) -> Batch:
    try:
        x, y = batch
    except (TypeError, ValueError):
        raise ValueError(f"a batch must be a pair of x and y, not a {type(batch).__name__}") from None
    return x, y


def data_of(name: str, source: Any, size: int) -> Data:
    """Convert an argument to data: a pair of tensors, a Dataset, a loader, or a list of batches.

    Raises ValueError if the argument is invalid or empty.
    """
    is_pair = isinstance(source, tuple | list) and len(source) == 2
    if is_pair and all(isinstance(item, Tensor) for item in source):
        x, y = source
        if not x.dim() or not y.dim() or len(x) != len(y):
            shapes = f"{tuple(x.shape)} and {tuple(y.shape)}"
            raise ValueError(f"{name} must have as many x as y, not shapes {shapes}")
        if not len(x):
            raise ValueError(f"{name} is empty: it has no example to train or evaluate on")
        return Tensors(x, y)
    if isinstance(source, Dataset) and not isinstance(source, IterableDataset):
        source = DataLoader(source, batch_size=size, shuffle=True) if len(source) else []  # type: ignore[arg-type]
    if isinstance(source, Iterator):
        raise ValueError(f"{name} is gone through many times: give a list or a loader, not an iterator")
    if not hasattr(source, "__iter__") or isinstance(source, str):
        raise ValueError(
            f"{name} must be a pair of tensors x and y, a Dataset or a loader, not a {type(source).__name__}"
        )
    data = Loader(source)
    if next(data.iterate_all(), None) is None:
        raise ValueError(f"{name} is empty: it has no batch to train or evaluate on")
    return data
