import math
import types

import torch

from explorer.snippets import helpers

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]

CASTS = {
    "fp(x, 3, -6, 448)": (torch.float8_e4m3fn, 448.0), "fp(x, 2, -14, 57344)": (torch.float8_e5m2, 57344.0),
    "float8_e4m3fn(x)": (torch.float8_e4m3fn, 448.0), "float8_e5m2(x)": (torch.float8_e5m2, 57344.0),
}  # fmt: skip


def codes(dtype: torch.dtype) -> torch.Tensor:
    """Every finite number of an eight-bit format, ascending, in float64."""
    values = torch.arange(256, dtype=torch.uint8).view(dtype).double()
    return values[values.isfinite()].unique()


def hard_points(numbers: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The numbers, the midpoints between them, the neighbours of both, and others, up to beyond the end."""
    middles = (numbers[1:] + numbers[:-1]) / 2
    exact = torch.cat([numbers, middles]).to(dtype)
    beside = [torch.nextafter(exact, torch.full_like(exact, end)) for end in (-math.inf, math.inf)]
    top = 1.1 * float(numbers[-1])
    generator = torch.Generator().manual_seed(0)
    normal = torch.randn(20_000, generator=generator, dtype=torch.float64)
    spread = torch.cat([normal * 10.0**power for power in (-4, -2, 0, 1)]).to(dtype)
    edges = torch.tensor([0.0, -0.0, math.inf, -math.inf, math.nan, 1e-45, -1e-45], dtype=dtype)
    return torch.cat([exact, *beside, torch.linspace(-top, top, 20_001, dtype=dtype), spread, edges])


def bits(values: torch.Tensor) -> torch.Tensor:
    """Values as they compare bit by bit: with the sign of zero, and one NaN."""
    values = torch.where(values.isnan(), math.nan, values.double())
    return values.view(torch.int64)


HELPERS = types.SimpleNamespace(torch=torch)
exec("\n".join(reversed(helpers.TORCH.values())), vars(HELPERS))
