"""The share of straight-through's gradient that each rule of a study passes, before the first step."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from torch import Tensor

from explorer.gradient import bind, share_of_all
from explorer.study.plan import Plan
from explorer.study.trial import Trial, Values
from explorer.training.nets import Member, joined
from explorer.training.runs import Lockstep
from explorer.training.settings import Settings
from explorer.training.system import one_thread

SEED = 0  # of the net whose op is looked at
_REFERENCE = "straight_through"
_PLANS, _OPS = 64, 8  # whose shares, and whose data, are kept


def shares(plan: Plan) -> dict[tuple[str, Values], float]:
    """The share by rule and swept values: mean size of the rule's gradient ÷ that of straight-through's.

    The data are what the op sees in a net of seed 0 with straight-through at its start weights: x and g of
    the first batch, in all layers with the op, g as it came. NaN where one of them is not finite.
    """
    return dict(_shares(plan))


@lru_cache(maxsize=_PLANS)
def _shares(plan: Plan) -> tuple[tuple[tuple[str, Values], float], ...]:
    return tuple(
        ((rule, values), _share(plan, rule, values)) for rule in plan.keys for values in plan.variants(rule)
    )


def _share(plan: Plan, rule: str, values: Values) -> float:
    settings = plan.settings(Trial("choose", rule, values, plan.lrs[0], SEED))
    (chosen,) = settings.rules
    of_op = {each.name for each in plan.op_entry.parameters}
    own = tuple(sorted((name, value) for name, value in settings.parameters.items() if name in of_op))
    seen = _seen(plan, own)
    with one_thread():
        return share_of_all(bind(settings.op, chosen, settings.parameters), seen)


@lru_cache(maxsize=_OPS)
def _seen(plan: Plan, parameters: Values) -> Sequence[tuple[Tensor, Tensor]]:
    """x and g of each layer with the op, (1, …) each, with these values of the op's parameters."""
    others = {name: value for name, value in plan.others if name != "learn"}
    settings = Settings(
        task=plan.task,
        op=plan.op,
        rules=(_REFERENCE,),
        parameters=dict(parameters),
        steps=plan.steps,
        seed=SEED,
        table=plan.table,
        **others,
    )
    with one_thread():
        pair = joined(settings.op, settings.rules, settings.parameters)
        nets = Lockstep(settings, settings.table, [SEED], [Member(0, 0)], pair)
        traces = [trace.op for trace in nets.look().traces if trace.x is not None]
    return [(trace.x, trace.upstream) for trace in traces]
