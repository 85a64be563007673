"""The function ``swap``: the same parameters and forward, with another backward at some sites."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, fx, nn
from torch.utils._pytree import tree_map

from explorer.catalogue import OPS, Op, find_op
from explorer.model.swapping.bridge import UnreachedError, has_node_of
from explorer.model.swapping.exchange import Exchange
from explorer.model.swapping.inplace import replace_modules
from explorer.model.swapping.learning import Learning, register_parameters
from explorer.model.swapping.parts import CalledModule, make_part, unwrap
from explorer.model.swapping.passing import Pass
from explorer.model.swapping.target import Target, target_of
from explorer.model.tape import Site
from explorer.model.tape.names import find_tensors
from explorer.model.tape.private import DisableTorchFunction, is_functorch_wrapped_tensor, is_tracing
from explorer.model.tape.sites import name_sites, require_model

if TYPE_CHECKING:
    import pandas as pd

UNTRACED = (
    "torch.fx, torch.jit and torch.export cannot trace a swapped model, since its graph would lose the rule: "
    "swap with inplace=True, and use torch.export"
)
_EAGER = "the model is compiled, but runs eagerly while it is swapped; inplace=True keeps it compiled"
_NOTHING = ": nothing is swapped; explorer.observe(model) names the sites that there are"
_UNCOMPILED: list[Callable[..., Any]] = []  # _run_pass without torch.compile, which warns of lru_cache
_RUNNING: set[tuple[int, int]] = set()  # thread and identity of the swaps whose calls are running


@dataclass
class ModelSwap:
    """A swap: a model, the calls whose backward is exchanged, and what the calls get instead.

    Attributes:
        model: the original model.
        target, exchange: the calls to swap, and their rule.
        learning: the parameters that the swap has registered on the model.
        active: whether the swap is in effect; False once it is undone.
        reached: the number of calls, the largest change of y and a note, by site and op.
        root: the swapped model.
    """

    model: nn.Module
    target: Target
    exchange: Exchange
    learning: Learning
    active: bool = True
    reached: dict[tuple[Site, str], tuple[int, float, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.root = make_part(self, CalledModule("", self.model))

    @property
    def told(self) -> str:
        """The target and the name of the rule as text: "… → rule"."""
        return f"{self.target.told} → {self.exchange.key}"

    def make_frame(self) -> pd.DataFrame:
        """Return a table with one row per site; see ``Swapped.sites``."""
        import pandas as pd

        sites = zip(name_sites(self.reached, self.target.told), self.reached.items(), strict=True)
        records = [(name, op, self.exchange.key, *told) for name, ((_, op), told) in sites]
        return pd.DataFrame(records, columns=["site", "op", "rule", "calls", "change", "note"])

    def undo(self) -> nn.Module:
        """End the swap, and return the original model."""
        self.active = False
        self.learning.remove(self.model)
        return self.model

    def make_recipe(self) -> tuple[Callable[..., nn.Module], tuple[Any, ...]]:
        """Return a function and its arguments with which pickle makes the swapped model again."""
        return _make_swapped, (self.model, self.target, self.exchange, self.learning, self.active)

    def call_swapped(
        self, call: Callable[..., Any], origin: CalledModule, is_forward: bool, /, *args: Any, **kwargs: Any
    ) -> Any:
        """Call a method of a swapped module with the exchanged backward, and return its result.

        ``is_forward`` tells whether the method is ``forward``. torch.compile does not trace the call, since
        the target's calls are found while it runs.
        """
        is_traced = any(isinstance(item, fx.Proxy) for item in args) or is_tracing()
        if self.active and (is_traced or torch.compiler.is_exporting()):
            raise UnreachedError(UNTRACED)
        if "torch._dynamo" in sys.modules and not _UNCOMPILED:
            _UNCOMPILED.append(torch.compiler.disable(ModelSwap._run_pass))  # type: ignore[no-untyped-call]
        run: Any = _UNCOMPILED[0] if _UNCOMPILED else ModelSwap._run_pass
        return run(self, partial(call, *args, **kwargs), origin, is_forward)

    def _run_pass(self, call: Callable[[], Any], origin: CalledModule, is_forward: bool) -> Any:
        has_gradient, key = torch.is_grad_enabled(), (threading.get_ident(), id(self))
        is_idle = not has_gradient and self.exchange.op is None
        if is_idle or not self.active or key in _RUNNING:
            return call()
        current = Pass(unwrap(self.model), self.target, self.exchange, self.learning)
        _RUNNING.add(key)
        try:
            with torch.enable_grad():  # if gradients are disabled, Functions leave no node in the graph
                result = current.run(call, None if is_forward else origin.path)
        finally:
            _RUNNING.discard(key)
        if not has_gradient:
            result = tree_map(lambda item: item.detach() if isinstance(item, Tensor) else item, result)
        with DisableTorchFunction():
            self._finish(current, result, origin, is_forward)
            current.clear()
        return result

    def _finish(self, current: Pass, result: Any, origin: CalledModule, is_forward: bool) -> None:
        """Record the sites that a pass reached. Raises UnreachedError if the swap missed its target."""
        if is_forward and not current.hits:
            self._require_elsewhere(current, origin)
        start = f"{self.target.op.replace('_', '')}backward"
        node = next((n for n in current.unseen if self.target.op and n.lower().startswith(start)), None)
        if node is not None:
            raise UnreachedError(
                f"the swap of {self.target.told} does not reach all of it: autograd's graph has a {node} "
                f"whose call is not seen, as in TorchScript or C++"
            )
        lost = _find_lost(current, result) if is_forward and not origin.path else {}
        for number, hit in enumerate(current.hits):
            calls, change, note = self.reached.get(key := (hit.call.site, hit.call.op), (0, 0.0, ""))
            note = note or lost.get(number, hit.reason) or hit.note
            self.reached[key] = calls + 1, max(change, hit.change), note
        told = "{} of {} has left autograd's graph ({}): the swap has no effect there"
        if lost and len(lost) == len(current.hits):
            raise UnreachedError(told.format("the output", self.target.told, next(iter(lost.values()))))
        hits = ((current.hits[number], why) for number, why in lost.items())
        missed = [why for hit, why in hits if not hit.reason and hit.call not in current.discarded]
        if missed:
            warnings.warn(told.format("part of the output", self.target.told, missed[0]), stacklevel=2)

    def _require_elsewhere(self, current: Pass, origin: CalledModule) -> None:
        """Raise UnreachedError if a pass without hits is not one of a submodule outside the target."""
        if current.unsuited:  # the only ops on the target's parameter
            self.exchange.require_suitable(current.unsuited)
        kinds, owner = {type(item) for item in origin.module.modules()}, self.target.owner
        meant = [call for call in current.calls if self.target.is_meant(call)]
        functions = [call for call in current.calls if call.kind == "function"]
        owners = [call.name for call in functions if any(item.is_inside(call) for item in meant)]
        hiding = ""
        if owner is not None and has_node_of(current.roots, owner):
            hiding = (
                f": autograd's graph has a {owner.__name__}Backward whose call is not seen, as in another "
                "thread or inside an op of torch.library"
            )
        elif any(issubclass(kind, fx.GraphModule) for kind in kinds):
            hiding = ": it was traced by torch.fx, which inlines a Function's forward and loses its backward"
        elif any(issubclass(kind, torch.jit.ScriptModule) for kind in kinds):
            hiding = ": it holds TorchScript, into which a swap does not reach"
        elif owners:
            hiding = f" only in the forward of {owners[0]}, where autograd sees no calls: swap {owners[0]}"
        cut = next((c for c in current.calls if self.target.op in (c.op, c.name) and c.is_cut), None)
        if cut is not None and not hiding:
            raise UnreachedError(
                f"{cut.site}: {cut.op} was called, but no floating-point number like its x is made of its "
                f"result, so that no rule can be put there ({cut.reason})"
            )
        if hiding or not origin.path or self.target.is_inside(origin.path):
            is_met = current.is_entered or bool(meant)
            told = f"{'not ' * (not is_met)}called {self.target.told}"
            told += ", which has no op that a rule can replace" * (is_met and not owners)
            raise UnreachedError(f"the forward pass has {told}{hiding or _NOTHING}")


def _find_lost(current: Pass, result: Any) -> dict[int, str]:
    """Return why hits have no effect, such as a result that left the graph, by the hit's number."""
    if not torch.is_grad_enabled() or any(map(is_functorch_wrapped_tensor, find_tensors(result))):
        return {}
    graph, lost = current.reach(True), {}
    for number, hit in enumerate(current.hits):
        if hit.reason:
            lost[number] = hit.reason
        elif hit.y is not None and hit.y not in graph:
            exits = (call.reason for call in current.calls if hit.y in call.inputs and call.is_cut)
            lost[number] = next(exits, current.mask_end or "no gradient of the result reaches it")
    return lost


def _make_swapped(
    model: nn.Module, target: Target, exchange: Exchange, learning: Learning, active: bool
) -> nn.Module:
    return ModelSwap(model, target, exchange, learning, active).root


def swap(
    model: nn.Module, what: Any, rule: Any, op: str | Op | None = None, *,
    learns: str | Sequence[str] | None = None, inplace: bool = False, **parameters: Any,
) -> Any:  # fmt: skip
    """Exchange the backward of a model at some sites, and nothing else.

        fixed = explorer.swap(model, torch.round, rule="straight_through")
        fixed = explorer.swap(model, nn.ReLU, rule="leaky_backward", slope=0.1)
        fixed = explorer.swap(model, "act", rule=lambda x, g: g * (x.abs() <= 1))

    Args:
        model: the user's model, which is not changed and shares its parameters with the result.
        what: a torch function (``torch.round``, ``F.relu``) or its name, an op's key, which is "step" for all
            comparisons, a Function class, a module class, a submodule or its name, a site or its name from
            ``observe``, or a parameter or its name, for the elementwise calls on it. An elementwise submodule
            without a state is exchanged as a whole, from its x to its y; in others all ops are exchanged.
            ``x > parameter`` counts as gt and as lt, since Python calls ``parameter.lt(x)``. A call whose x
            the model detaches, as in a spiking reset, gets the rule only by site, by module or with ``op``.
        rule: a key of ``RULES``, ``"formula: …"``, or a ``Rule``; or a Function class, a module or a function
            of x, differentiated by autograd; or a function of ``(x, g)`` or ``(x, y, g)`` that returns the
            gradient. A comparison ``x > t`` is step(x − t): keys, formulas and ``op`` get x − t, your own
            code gets x, and t gets the opposite gradient. Masks follow the chain rule: ``where(m, a, b)``
            passes m the gradient g · (a − b).
        op: an op that replaces the model's own call; None to keep the model's forward. ``.sites`` tells how
            much another op changes y.
        learns: parameters that learn, with ``op``; None for all without a value that the rule has a gradient
            for, such as LSQ's step. Each becomes an ``nn.Parameter`` of the model until ``undo()``, one for
            each module of a class. It is NaN until the first call, which initialises it as its source does,
            such as LSQ's step at 2·mean|x|/√qmax.
        inplace: whether to replace modules of the model itself by ``explorer.Layer``, which torch.compile and
            torch.export support. Functions called in a forward cannot be replaced.
        **parameters: values of the op's and the rule's parameters. By default the op has those of the model's
            call.

    Returns:
        A model of the same class: it can be called, trained, copied, indexed, and stacked by torch.func.
        ``.sites`` lists the sites reached, and ``.undo()`` returns the original model. Other tensors that a
        call learns keep their gradient. A detach trick is exchanged as a whole. With ``inplace``, the result
        is a ``Replaced``.

    Raises:
        ValueError: if an argument is invalid, such as an unknown key or name, or an unsuitable rule. Its
            subclass UnreachedError is raised by a forward pass that misses its target, because it was not
            called, has left autograd's graph, or its call cannot be seen.
    """
    require_model("swap", model)
    target = target_of(model, what)
    names = (learns,) if isinstance(learns, str) else learns
    exchange = Exchange(op, rule, parameters, None if names is None else tuple(names))
    exchange.require_possible()
    known_op = op if op is not None else target.op if target.op in OPS else None
    if known_op:
        exchange.require_suitable(find_op(known_op))
    else:
        known = {item.name for item in exchange.entry.parameters} if exchange.entry else set()
        for name in sorted({*parameters} - known):
            takes = ", ".join(sorted(known)) or "none"
            raise ValueError(f"unknown parameter {name!r}: {exchange.key} takes {takes}")
    if inplace:
        return replace_modules(model, target, exchange)
    compiled = [
        item for item in model.modules()
        if type(item).__name__ == "OptimizedModule" or item.__dict__.get("_compiled_call_impl") is not None
    ]  # fmt: skip
    if compiled:
        warnings.warn(_EAGER, stacklevel=2)
    return ModelSwap(model, target, exchange, register_parameters(unwrap(model), target, exchange)).root
