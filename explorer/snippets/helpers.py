"""Definitions, for exported code, of formula functions that neither torch nor JAX provides."""

from collections.abc import Mapping

from explorer.formula import FUNCTIONS
from explorer.formula.constants import IEEE_HELPERS, THROUGH_HELPER
from explorer.snippets.layout import find_names

_TORCH_FP = '''

def _fp(x, mantissa, least, largest):
    """The nearest number of a format, halves to even, and at most its largest.

    mantissa: bits behind the point; least: exponent of the smallest normal number.
    """
    mantissa = round(min(max(0, mantissa), 52))
    least = round(min(max(-1022, least), 1023))
    x, kind = x.detach().double(), x.dtype
    fraction, exponent = torch.frexp(x)
    exponent = (exponent - 1).clamp(min=least)  # that of the steps between two numbers at x
    shift = torch.frexp(x).exponent - exponent + mantissa
    steps = torch.round(fraction * 2.0 ** shift.clamp(min=-1000).double())
    value = steps * 2.0**-mantissa * 2.0 ** exponent.double()
    return value.clamp(-abs(largest), abs(largest)).copysign(x).to(kind)
'''
_TORCH_EXPONENT = '''

def _exponent(x, least):
    """The whole number below log2(abs(x)), or least; infinite where x is."""
    least, size = round(min(max(-1022, least), 1023)), x.detach().double().abs()
    exponent = torch.frexp(size.clamp(min=2.0**least)).exponent - 1
    return torch.where(size.isfinite(), exponent, size).to(x.dtype)
'''
_JAX_THROUGH = '''

def _through(x, *points):
    """Return straight lines through x0, y0, x1, y1, ...; constant beyond them."""
    at, y = np.array(points[::2]), np.array(points[1::2])
    slopes = np.append(np.diff(y) / np.diff(at), 0.0)
    starts, values, slopes = (jnp.asarray(each, x.dtype) for each in (at, y, slopes))
    inside = jnp.clip(x, at[0], at[-1])
    index = jnp.searchsorted(starts[1:], jax.lax.stop_gradient(inside), side="right")
    return values[index] + (inside - starts[index]) * slopes[index]
'''
_TORCH_CAST = '''

def _{name}(x):
    """The cast to {name} and back, saturated; torch casts g likewise."""
    value = _fp(x, {format}) - (x.detach() - x).nan_to_num()
    return value.to(torch.{name}).to(x.dtype)
'''
_JAX_FP = '''

def _fp(x, mantissa, least, largest):
    """The nearest number of a format, halves to even, and at most its largest.

    mantissa: bits behind the point; least: exponent of the smallest normal number.
    """
    xp = jnp if isinstance(x, jax.Array) else np  # constants stay numbers under jax.jit
    mantissa = round(min(max(0, mantissa), 52))
    least = round(min(max(-1022, least), 1023))
    x = jax.lax.stop_gradient(x) if xp is jnp else np.asarray(x)
    exponent = xp.maximum(xp.frexp(x)[1] - 1, least)  # that of the steps between two numbers at x
    value = xp.ldexp(xp.round(xp.ldexp(x, mantissa - exponent)), exponent - mantissa)
    return xp.copysign(xp.clip(value, -abs(largest), abs(largest)), x)
'''
_JAX_EXPONENT = '''

def _exponent(x, least):
    """The whole number below log2(abs(x)), or least; infinite where x is."""
    xp = jnp if isinstance(x, jax.Array) else np  # constants stay numbers under jax.jit
    least = round(min(max(-1022, least), 1023))
    size = abs(jax.lax.stop_gradient(x)) if xp is jnp else np.abs(x)
    exponent = xp.where(size == 0, least, xp.maximum(xp.frexp(size)[1] - 1, least))
    return xp.where(xp.isfinite(size), exponent.astype(size.dtype), size)
'''
_JAX_CAST = '''

def _{name}(x):
    """The cast to {name} and back, saturated; JAX casts g likewise."""
    if not isinstance(x, jax.Array):
        return _fp(x, {format})
    value = _fp(x, {format}) - jnp.nan_to_num(jax.lax.stop_gradient(x) - x)
    return value.astype(jnp.{name}).astype(x.dtype)
'''
_JAX_IEEE = (
    IEEE_HELPERS["_ieee"].partition("        tensors =")[0]
    + """\
        with np.errstate(all="ignore"):
            name = "power" if function is math.pow else function.__name__
            return float(getattr(np, name)(*map(float, numbers)))
"""
)
_CASTS = {
    name: f"{function.format.mantissa}, {function.format.least}, {function.format.largest:g}"
    for name, function in FUNCTIONS.items()
    if function.format
}

# Each helper precedes the helpers it calls: ``add_helpers`` prepends them in this order.
TORCH: Mapping[str, str] = {
    **{f"_{name}": _TORCH_CAST.format(name=name, format=fp) for name, fp in _CASTS.items()},
    "_fp": _TORCH_FP,
    "_exponent": _TORCH_EXPONENT,
    **{name: f"\n\n{definition}" for name, definition in IEEE_HELPERS.items()},
    "_through": f"\n\n{THROUGH_HELPER}",
}
JAX: Mapping[str, str] = {
    **{f"_{name}": _JAX_CAST.format(name=name, format=fp) for name, fp in _CASTS.items()},
    "_fp": _JAX_FP,
    "_exponent": _JAX_EXPONENT,
    "_ieee": f"\n\n{_JAX_IEEE}",
    "_divided": f"\n\n{IEEE_HELPERS['_divided']}",
    "_through": _JAX_THROUGH,
}


def add_helpers(code: str, helpers: Mapping[str, str]) -> str:
    """Return the code, preceded by the definitions of the helpers that it calls."""
    for name, definition in helpers.items():
        if name in find_names(code):
            code = definition + code
    return code
