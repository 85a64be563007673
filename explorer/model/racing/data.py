"""The data of a race as two tensors or as a loader, with the same batches for every rule."""

from __future__ import annotations

import hashlib
import pickle
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice, repeat
from typing import Any, TypeAlias

import torch
from torch import Generator, Tensor
from torch.utils._pytree import tree_leaves
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
        """Yield a batch of up to ``size`` examples for each step. The seed determines each epoch's order."""
        generator, length = Generator().manual_seed(seed), len(self.x)
        size = min(size, length)
        for step in range(steps):
            if not (start := step % (length // size) * size):
                order = torch.randperm(length, generator=generator)
            indices = order[start : start + size]
            yield self.x[indices], self.y[indices]

    def iterate_all(self) -> Iterator[Batch]:
        """Yield all examples in batches of 1,024."""
        return zip(torch.split(self.x, _AT_A_TIME), torch.split(self.y, _AT_A_TIME), strict=True)

    def split(self) -> tuple[Tensors, Tensors]:
        """Return the examples for training, and a tenth set aside for validation."""
        held_indices, rest = _split_indices(len(self.x))
        return Tensors(self.x[rest], self.y[rest]), Tensors(self.x[held_indices], self.y[held_indices])

    def list_values(self, _limit: int | None) -> Iterable[Any]:
        """Return the two tensors."""
        return self.x, self.y


@dataclass(frozen=True)
class Loader:
    """Examples as the batches of a loader or a list, which can be iterated repeatedly."""

    source: Any

    def iterate_batches(self, seed: int, steps: int, size: int) -> Iterator[Batch]:
        """Yield a batch for each step. The loader draws from a random state set by the seed."""
        for owner in (self.source, getattr(self.source, "sampler", None)):
            if (generator := getattr(owner, "generator", None)) is not None:
                generator.manual_seed(seed)
        return islice(self._iterate_epochs(seed, repeat(None)), steps)

    def iterate_all(self) -> Iterator[Batch]:
        """Yield all batches, in the order that the loader has with random seed 0."""
        return self._iterate_epochs(0, (None,))

    def _iterate_epochs(self, seed: int, epochs: Iterable[None]) -> Iterator[Batch]:
        state = Generator().manual_seed(seed).get_state()  # of the random numbers that the loader draws
        for _ in epochs:
            batches: Any = None
            while True:
                with torch.random.fork_rng(()):
                    torch.set_rng_state(state)
                    batches = iter(self.source) if batches is None else batches
                    batch = next(batches, None)
                    state = torch.get_rng_state()
                if batch is None:
                    break
                try:
                    x, y = batch
                except (TypeError, ValueError):
                    kind = type(batch).__name__
                    raise ValueError(f"a batch must be a pair of x and y, not a {kind}") from None
                yield x, y

    def split(self) -> tuple[Loader, Loader]:
        """Return a loader for training and one for a tenth set aside.

        Raises ValueError if that is impossible.
        """
        loader = self.source
        if not self._has_plain_sampler:
            raise ValueError(
                "no tenth of train can be split off this loader for validation: give validation=…"
            )
        chosen, rest = (part.tolist() for part in _split_indices(len(loader.dataset)))
        shuffled = isinstance(loader.sampler, RandomSampler)
        return _copy_loader(loader, rest, shuffled), _copy_loader(loader, chosen, False)

    def list_values(self, limit: int | None) -> Iterable[Any]:
        """Return an iterator over all examples of a DataLoader's Dataset, or over up to ``limit`` batches."""
        if not self._has_plain_sampler:
            return islice(self.iterate_all(), limit)
        examples = _copy_loader(self.source, range(len(self.source.dataset)), False)
        return chain([self.source.drop_last], self.iterate_batches(0, 1, 0), examples.iterate_all())

    @property
    def _has_plain_sampler(self) -> bool:
        """Whether this is a DataLoader that takes its Dataset's examples in order or shuffled, in batches."""
        loader = self.source
        is_plain = isinstance(getattr(loader, "sampler", None), RandomSampler | SequentialSampler)
        return is_plain and isinstance(loader, DataLoader) and loader.batch_size is not None


Data: TypeAlias = Tensors | Loader


@contextmanager
def isolate_random_state() -> Iterator[None]:
    """Return a context that gives one net torch's random state for itself, and restores it afterwards."""
    with _LOCK, torch.random.fork_rng():
        yield


def hash_values(values: Iterable[Any]) -> str:
    """Return a hash of nested values, which may be tensors, numbers or any others that can be pickled."""
    digest = hashlib.sha256()
    for leaf in (leaf for value in values for leaf in tree_leaves(value)):
        if isinstance(leaf, Tensor):
            digest.update(f"{leaf.dtype} {tuple(leaf.shape)}".encode())
            leaf = leaf.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        digest.update(leaf if isinstance(leaf, bytes) else pickle.dumps(leaf))
    return digest.hexdigest()[:16]


def _split_indices(length: int) -> tuple[Tensor, Tensor]:
    order = torch.randperm(length, generator=Generator().manual_seed(0))
    if length < 2:
        raise ValueError("one example is too few to train and validate on: give validation=…")
    held = max(1, length // _HELD_BACK)
    return order[:held], order[held:]


def _copy_loader(loader: DataLoader[Any], indices: Sequence[int], shuffled: bool) -> Loader:
    return Loader(DataLoader(
        Subset(loader.dataset, indices), loader.batch_size, shuffled, collate_fn=loader.collate_fn,
        num_workers=loader.num_workers, drop_last=loader.drop_last and shuffled, pin_memory=loader.pin_memory,
    ))  # fmt: skip


def data_of(name: str, source: Any, size: int, device: Any = None) -> Data:
    """Convert an argument to data: a pair of tensors on a device, a Dataset, a loader, or a list of batches.

    Raises ValueError if the argument is invalid or empty.
    """
    is_pair = isinstance(source, tuple | list) and len(source) == 2
    if is_pair and all(isinstance(item, Tensor) for item in source):
        x, y = source
        if not x.dim() or not y.dim() or len(x) != len(y):
            raise ValueError(f"{name} must have as many x as y, not shapes {(*x.shape,)} and {(*y.shape,)}")
        if not len(x):
            raise ValueError(f"{name} is empty: it has no example to train or evaluate on")
        return Tensors(x.to(device=device), y.to(device=device))
    if isinstance(source, Dataset) and not isinstance(source, IterableDataset):
        source = DataLoader(source, batch_size=size, shuffle=True) if len(source) else []  # type: ignore[arg-type]
    if isinstance(source, Iterator):
        raise ValueError(f"{name} is gone through many times: give a list or a loader, not an iterator")
    if not hasattr(source, "__iter__") or isinstance(source, str):
        kind = type(source).__name__
        raise ValueError(f"{name} must be a pair of tensors x and y, a Dataset or a loader, not a {kind}")
    data = Loader(source)
    if next(data.iterate_all(), None) is None:
        raise ValueError(f"{name} is empty: it has no batch to train or evaluate on")
    return data
