"""Functions of other libraries, each beside the op and the rule of the catalogue that say the same."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from torch import Tensor

Made = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Pair:
    """A function of a library, and what stands for it here.

    Attributes:
        name: as its documentation calls it, with the arguments that are given.
        make: the function of x, from the library's module.
        op, rule: keys, with the ``parameters``; no rule where the values alone are compared.
        differs: why they are not the same; "" for those that must be.
        high: x lie up to so far from 0.
    """

    library: str
    module: str
    name: str
    make: Callable[[Any], Made]
    op: str
    rule: str = ""
    parameters: Mapping[str, float] = field(default_factory=dict)
    differs: str = ""
    high: float = 5.0

    def function(self) -> Made:
        """Raises ImportError where the library is not installed."""
        return self.make(import_module(self.module))


def _norse(name: str, value: float, rule: str, differs: str = "", /, **ours: float) -> Pair:
    return Pair("norse", "norse.torch.functional.threshold", f"{name}({value:g})",
                lambda m: lambda x: getattr(m, name)(x, value), "step_open", rule, ours, differs)  # fmt: skip


def _brevitas(name: str, op: str, differs: str = "", *arguments: float, **ours: float) -> Pair:
    given = f"({', '.join(f'{value:g}' for value in arguments)})" if arguments else ""
    return Pair("Brevitas", "brevitas.function", name + given,
                lambda m: lambda x: getattr(m, name)(x, *arguments), op, "straight_through", ours,
                differs)  # fmt: skip


def _fake_quantised(module: Any) -> Made:
    import torch

    given = torch.tensor(0.25), torch.tensor(2), torch.int8, -8, 7
    return lambda x: module._fake_quantize_affine(x, x.shape, *given)


def _float8(name: str) -> Callable[[Any], Made]:
    import torch

    def made(module: Any) -> Made:
        kind, scale = getattr(torch, name), torch.tensor([1.0])
        return lambda x: module._dequantize_affine_float8(
            module._quantize_affine_float8(x, scale, kind), scale
        )

    return made


def _learned(name: str, bits: int, step: float) -> Callable[[Any], Made]:
    import torch

    return lambda module: lambda x: getattr(module, name).apply(x, torch.tensor([step]), bits, True)


def _surrogates_of(library: str, module: str, op: str) -> Callable[..., Pair]:
    def pair(name: str, rule: str, differs: str = "", ours: str = "", /, **arguments: float) -> Pair:
        """``ours``: the names of the arguments here, in their order."""
        given = ", ".join(f"{each}={value:g}" for each, value in arguments.items())
        named = dict(zip(ours.split(), arguments.values(), strict=True))
        label = f"{name}({given})"
        return Pair(library, module, label, lambda m: getattr(m, name)(**arguments), op, rule, named, differs)

    return pair


_snntorch = _surrogates_of("snnTorch", "snntorch.surrogate", "step_open")
_spikingjelly = _surrogates_of("SpikingJelly", "spikingjelly.activation_based.surrogate", "step")
_PRIMITIVES = "torchao.quantization.quant_primitives"
_PARETOQ = "torchao.prototype.paretoq.models.utils_quant"
_EDGES = "It leaves the two edges out."
# fmt: off
PAIRS = (
    Pair("torchao", _PRIMITIVES, "_Round", lambda m: m._Round.apply, "round", "straight_through"),
    Pair("torchao", _PRIMITIVES, "_quantize_affine_float8, E4M3", _float8("float8_e4m3fn"), "fp8_e4m3",
         "default", {"s": 1.0}, "", 448.0),
    Pair("torchao", _PRIMITIVES, "_quantize_affine_float8, E4M3", _float8("float8_e4m3fn"), "fp8_e4m3",
         "default", {"s": 1.0}, "Beyond ±448 its clamp passes nothing.", 600.0),
    Pair("torchao", _PRIMITIVES, "_quantize_affine_float8, E5M2", _float8("float8_e5m2"), "fp8_e5m2",
         "default", {"s": 1.0}, "", 57344.0),
    Pair("torchao", _PRIMITIVES, "_fake_quantize_affine(int8, s=0.25, z=2, −8 to 7)", _fake_quantised,
         "fake_quantize", "fake_quantize", {"s": 0.25, "z": 2.0, "qmin": -8.0, "qmax": 7.0}),
    Pair("torchao", _PARETOQ, "StretchedElasticQuant(0.8, 2 bits)", _learned("StretchedElasticQuant", 2, 0.8),
         "seq", "seq", {"s": 0.8, "half": 2.0, "shift": 0.5}),
    Pair("torchao", _PARETOQ, "StretchedElasticQuant(0.8, ternary)",
         _learned("StretchedElasticQuant", 0, 0.8), "seq", "seq", {"s": 0.8, "half": 1.5, "shift": 0.0}),
    Pair("torchao", _PARETOQ, "LsqBinaryTernaryExtension(0.25, 3 bits)",
         _learned("LsqBinaryTernaryExtension", 3, 0.25), "quantize", "quantize_masked",
         {"s": 0.25, "qmin": -4.0, "qmax": 3.0}),
    Pair("torchao", "torchao.prototype.mx_formats.kernels", "f32_to_f4_unpacked, f4_unpacked_to_f32",
         lambda m: lambda x: m.f4_unpacked_to_f32(m.f32_to_f4_unpacked(x.detach())), "fp4_e2m1", "",
         {"s": 1.0}, "", 8.0),
    Pair("torchao", "torchao.prototype.quantized_training.bitnet", "quantize_bitnet_weight",
         lambda m: lambda w: m.quantize_bitnet_weight(w.detach(), m.get_bitnet_scale(w.detach()))
         * m.get_bitnet_scale(w.detach()), "absmean_ternary"),
    _snntorch("straight_through_estimator", "straight_through"),
    _snntorch("fast_sigmoid", "fast_sigmoid", "", "k", slope=25.0),
    _snntorch("atan", "atan_surrogate", "", "a", alpha=2.0),
    _snntorch("sigmoid", "sigmoid_surrogate", "", "a", slope=4.0),
    _snntorch("sigmoid", "sigmoid_surrogate", "exp(−slope · x) overflows left of −3.5: NaN there.", "a",
              slope=25.0),
    _snntorch("spike_rate_escape", "spike_escape", "", "b k", beta=1.0, slope=25.0),
    _snntorch("LSO", "leaky_spike", "It calls another operator, whose backward raises.", "leak", slope=0.1),
    _snntorch("SFS", "sparse_fast_sigmoid", "It keeps x > B, what the paper leaves out.", "k B",
              slope=25.0, B=1.0),
    _snntorch("triangular", "triangle", "It is a step: threshold below 0, minus threshold from 0 on.", "a",
              threshold=1.0),
    _spikingjelly("PiecewiseQuadratic", "triangle", "", "a", alpha=1.0),
    _spikingjelly("PiecewiseExp", "laplace", "", "a", alpha=1.0),
    _spikingjelly("Sigmoid", "sigmoid_surrogate", "", "a", alpha=4.0),
    _spikingjelly("SoftSign", "softsign_surrogate", "", "a", alpha=2.0),
    _spikingjelly("SuperSpike", "super_spike", "", "a", alpha=1.5),
    _spikingjelly("ATan", "atan_surrogate", "", "a", alpha=2.0),
    _spikingjelly("NonzeroSignLogAbs", "nonzero_sign_log_abs", "", "a", alpha=2.0),
    _spikingjelly("Erf", "erf_surrogate", "", "a", alpha=2.0),
    _spikingjelly("SquarewaveFourierSeries", "square_wave", "", "n T", n=2, T_period=8.0),
    _spikingjelly("SquarewaveFourierSeries", "square_wave", "", "n T", n=4, T_period=5.0),
    _spikingjelly("S2NN", "s2nn", "", "a b", alpha=4.0, beta=1.0),
    _spikingjelly("QPseudoSpike", "q_pseudo_spike", "", "a", alpha=2.0),
    Pair("SpikingJelly", "spikingjelly.activation_based.surrogate", "LeakyKReLU(leak=0.1, k=1)",
         lambda m: m.LeakyKReLU(0.1, 1.0), "step", "leaky_spike", {"leak": 0.1}),
    _spikingjelly("LogTailedReLU", "log_tailed", "", "a", alpha=0.0),
    Pair("SpikingJelly", "spikingjelly.activation_based.surrogate", "Rect(alpha=1)", lambda m: m.Rect(1.0),
         "step", "boxcar", {"w": 0.5}, _EDGES),
    _norse("superspike_fn", 100.0, "fast_sigmoid", "", k=1.0),
    _norse("heavi_tanh_fn", 1.5, "tanh_surrogate", "", k=1.5),
    _norse("heavi_erfc_fn", 2.0, "erf_surrogate", "", a=2.0),
    _norse("heavi_erfc_fn", 1.0, "erf_surrogate", "It writes 2/√π in front at any k: equal at k = 2 alone.",
           a=1.0),
    _norse("triangle_fn", 1.0, "triangle", "", a=1.0),
    _norse("triangle_fn", 0.3, "triangle", "It scales the height alone: equal at alpha = 1.", a=0.3),
    _brevitas("round_ste", "round"),
    _brevitas("floor_ste", "floor"),
    _brevitas("ceil_ste", "ceil"),
    _brevitas("round_to_zero_ste", "trunc"),
    _brevitas("binary_sign_ste", "binarize"),
    _brevitas("ternary_sign_ste", "sign"),
    _brevitas("scalar_clamp_ste", "clamp", "", -0.5, 1.5, lo=-0.5, hi=1.5),
)
# fmt: on
