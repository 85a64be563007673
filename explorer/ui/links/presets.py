"""Ready-made examples, each with the query of its link and a sentence that suggests an experiment."""

from dataclasses import dataclass
from pathlib import Path

from explorer.ui.links.choice import Choice
from explorer.ui.links.link import from_text

# Length and width in cm of the petals of 150 irises (Anderson 1935, Fisher 1936).
_IRISES = Path(__file__).with_name("irises.csv").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Preset:
    """A ready-made example that the user can open from a page.

    Attributes:
        name: its label.
        query: the query of a link to it.
        hint: a sentence that suggests an experiment.
        train: the label of the link to its training run; "" if there is none.
        table: the CSV text to learn from, if the task needs a table.
        source: the publication of its claim.
        lesson: the key of a lesson that explains it.
    """

    name: str
    query: str
    hint: str
    train: str = ""
    table: str = ""
    source: str = ""
    lesson: str = ""

    @property
    def choice(self) -> Choice:
        """The page settings that the example's query encodes."""
        return from_text(self.query)[0]


# fmt: off
PRESETS = (
    Preset("Why round stops learning", "op=round&rule=default&rule=straight_through",
           "Autograd's gradient is 0 wherever you look; straight-through lets g pass.",
           train="Train both"),
    Preset("Learning through sign", "op=sign&rule=default&rule=straight_through",
           "Autograd's gradient is 0 around the jump too, so no weight before it learns.",
           train="Train both"),
    Preset("ClampGradient's bug",
           "op=clamp&rule=default&rule=published_clamp&rule=straight_through&g=2&range=0&range=2",
           "Above hi the published rule returns 1, whatever g is: torch's own gradient is 0 there.",
           lesson="clamp"),
    Preset("MyReLU at exactly 0", "op=relu&rule=default&rule=seed_relu&range=-1&range=1",
           "Hover over x = 0: the hand-written rule passes g there, torch does not."),
    Preset("Binary weights", "op=sign&rule=default&rule=straight_through&rule=clipped",
           "Move c: the window decides which weights may still change sides."),
    Preset("A step size that learns", "op=quantize&rule=lsq&rule=default&s=0.6&qmin=-2&qmax=1&learns=s",
           "Below: what each x adds to s's gradient. Drag s until the arrows turn."),
    Preset("Is a bound inside?", "op=clamp&rule=default&rule=masked&rule=masked_open",
           "The rules differ at two points only, and torch has changed its mind about them."),
)

# The examples of the page Train, at least one per task. The hints are true for exactly these settings. An
# example without a task trains the net of the PyTorch documentation.
TRAINING = (
    Preset("Digits through round", "task=digits&op=round&rule=default&rule=straight_through&seeds=5",
           "Look at the curves: autograd's gradient of round is 0, so the first layer never moves and only "
           "the last one learns. Straight-through reads more of the held-out digits."),
    Preset("Three layers of sign", "task=digits&hidden=16,16,16&lr=0.003&op=sign&rule=default"
           "&rule=straight_through&rule=clipped&seeds=5",
           "Look at the distance between the curves: with autograd's gradient of sign no layer but the "
           "last one learns. Straight-through does far better, and Clipped, which passes nothing far from "
           "the jump, better still."),
    Preset("A clamp rule with a bug", "task=digits&op=clamp&rule=default&rule=published_clamp&rule=zero"
           "&seeds=5",
           "Look at the lowest curve: above its bound the published rule returns 1, whatever g is. It ends "
           "lower than Zero, which never moves the first layer."),
    Preset("Rings of points", "task=circles&op=sign&rule=default&rule=straight_through&rule=reste"
           "&seeds=5",
           "Look at the regions: with ReSTE nearly every held-out point lies in that of its class, with "
           "straight-through fewer do, and with autograd fewer still."),
    Preset("Two moons", "task=moons&op=sign&rule=default&rule=straight_through&rule=clipped"
           "&rule=reste&seeds=5",
           "Look at the border between the moons: Clipped and ReSTE bend it around both, straight-through "
           "less well, and autograd least."),
    Preset("Arms of a spiral", "task=spiral&op=sign&rule=default&rule=straight_through&rule=clipped"
           "&rule=reste&seeds=5",
           "Look at straight-through: it ends no higher than autograd, where only the last layer learns. "
           "Clipped and ReSTE follow both arms."),
    Preset("Four quarters", "task=xor&op=sign&rule=default&rule=straight_through&rule=clipped"
           "&rule=reste&seeds=5",
           "Look at the regions: with autograd the hidden layers keep their random start weights, and the "
           "last one must make do. Clipped and ReSTE find the quarters."),
    Preset("Weights of one bit", "task=binary+weights&op=binarize&rule=default&rule=straight_through"
           "&rule=clipped&c=0.1&seeds=5",
           "Look how many weights have changed sides: many with straight-through, few with a window too "
           "narrow for most of them, none with autograd. Make c larger."),
    Preset("Weights of three values", "task=ternary+weights&op=quantize&rule=default&rule=straight_through"
           "&rule=quantize_masked&s=1&qmin=-1&qmax=1&seeds=5",
           "Look at the outermost weights: the masked rule gives no gradient to those beyond its bounds. "
           "Straight-through does, and ends higher."),
    Preset("Maps of signs", "task=digits+convolution&op=sign&rule=default&rule=straight_through&rule=clipped"
           "&seeds=5",
           "Look at the distance between the curves: with autograd's gradient of sign the kernels keep "
           "their random start weights. Straight-through moves them and reads more, Clipped most."),
    Preset("Kernels of one bit", "task=binary+kernels&op=binarize&rule=default&rule=straight_through"
           "&rule=clipped&seeds=5",
           "Look at the lowest curve: kernels that never move still read nine digits of ten, since biases "
           "and the last layer learn. Straight-through, which changes their signs, misreads far fewer."),
    Preset("Kernels of three values", "task=ternary+kernels&op=quantize&rule=default&rule=straight_through"
           "&rule=quantize_masked&s=1&qmin=-1&qmax=1&seeds=5",
           "Look at the kernels: with autograd's gradient none of their values changes. Straight-through "
           "and the masked rule move them between −1, 0 and 1, and end higher, one like the other."),
    Preset("Spikes and their surrogates", "task=spikes&op=step&rule=default&rule=boxcar&rule=fast_sigmoid&k=1"
           "&w=0.02&seeds=3",
           "Look at the accuracy: the op is the spike of a leaky unit. The wide fast sigmoid teaches the "
           "spiking layers; a boxcar too narrow does little more than autograd's 0."),
    Preset("Petals of irises", "task=data&op=sign&hidden=8,8&steps=200&rule=default"
           "&rule=straight_through&rule=clipped&seeds=10",
           "Look at the regions: a table with two input columns can be drawn as a plane. Clipped finds the "
           "three species; straight-through and autograd separate fewer.", table=_IRISES),
    Preset("A step size that learns", "task=ternary+weights&op=quantize&rule=quantize_masked&rule=lsq&s=0.1"
           "&qmin=-1&qmax=1&learn=lsq.s&optimiser=momentum&lr=0.1&seeds=5",
           "Look at s in both layers: with a step of 0.1 most weights lie beyond the levels. LSQ lets s grow "
           "about twentyfold and reads the digits; where s stays, nothing is learned."),
    Preset("Two bits that find their range", "task=digits&op=quantize&rule=quantize_masked&rule=lsq&s=0.01"
           "&qmin=0&qmax=3&learn=lsq.s&learn_rate=0.3&optimiser=momentum&lr=0.03&seeds=5",
           "Look at the kinks of LSQ under the data: they begin at 0 and 0.03, and move out while it trains. "
           "Masked to the levels keeps them there, and ends far lower."),
    Preset("Two bits with PACT", "task=digits&op=formula:+round(clamp(x,+0,+hi)+*+3+/+hi)+*+hi+/+3"
           "&rule=masked&rule=pact&lo=0&hi=0.02&learn=pact.hi&learn_rate=0.1&optimiser=momentum&lr=0.03&seeds=5",
           "Look at the upper bound hi: it starts at 0.02, so most inputs look alike. PACT moves it out to "
           "about 2 and reads 96 % of the digits; with the bound fixed, 16 % are read.",
           source="PACT, Choi et al. 2018, arXiv:1805.06085, equations 1 to 3"),
    Preset("A bound that learns", "task=digits&op=clamp&rule=default&rule=pact&hi=0.1&learn=pact.hi"
           "&optimiser=momentum&lr=0.1&seeds=5",
           "Look at the upper bound: it starts at 0.1, so all units look alike. PACT moves it out to about "
           "5; with the bound fixed the net still learns, but ends lower."),
    Preset("Quantised activations", "op=quantize&rule=default&rule=straight_through",
           "Look at the loss: a staircase has gradient 0 between its steps. Straight-through looks past "
           "them, and w1 learns."),
    Preset("When w2 learns alone", "op=round&rule=default&rule=straight_through",
           "Look which curve is lower: here it is the rule without a gradient. w2 alone memorises 64 "
           "random answers, from constant hidden values."),
    Preset("A step too large", "op=relu&rule=default&lr=1e-5",
           "Look at the loss: with ten times the learning rate it grows until it is no longer finite. Try "
           "1e-6."),
)

# The examples of the page Study. The hints are true for exactly these settings.
STUDIES = (
    Preset("Each rule at its own rate",
           "task=digits&hidden=16,16,16&op=sign&rule=default&rule=straight_through&rule=clipped&seeds=5"
           "&rates=0.0003,0.001,0.003,0.01,0.03",
           "Look at the framed cells: each rule does best at another rate. At its own Clipped still leads "
           "straight-through by about ten points; autograd's gradient of sign does no better than Zero."),
    Preset("How wide a surrogate",
           "task=spikes&op=step&rule=formula:+g*(abs(x)<=0.02)/0.04&rule=formula:+g*(abs(x)<=0.1)/0.2"
           "&rule=boxcar&rule=formula:+g*(abs(x)<=2)/4&rule=triangle&seeds=5&rates=0.01,0.03",
           "Look at the boxcars: if too narrow, they teach a spiking net less. From half a unit up, five "
           "seeds show no difference, nor one from a triangle: the width matters more than the shape.",
           source="Zenke and Vogels 2021, doi:10.1162/neco_a_01367"),
    Preset("Ten times a rule, under Adam",
           "task=digits&hidden=16,16,16&op=sign&rule=formula:+g/10&rule=straight_through&rule=formula:+10*g"
           "&seeds=5&rates=0.003,0.01&controls=no",
           "Look how close the rules end: Adam divides out the size of a gradient, so a tenth of a rule, "
           "or ten times it, looks the same. Choose gradient descent and the rates 0.1, 0.3: then they "
           "differ.",
           source="Zenke and Vogels 2021, doi:10.1162/neco_a_01367"),
    Preset("A factor is a rate, under gradient descent",
           "task=binary+weights&op=binarize&rule=formula:+g/2&rule=straight_through&rule=formula:+2*g&seeds=5"
           "&rates=0.05,0.1,0.2,0.4,0.8&optimiser=sgd&bias=no&controls=no",
           "Look along the diagonals of the heat map: a rule times 2 at one rate is the rule itself at "
           "twice the rate, to the last bit, because every weight here learns through the rule. So at its "
           "own rate each factor ends the same.",
           source="the step itself, w − lr · s · g; a power of two rounds nothing"),
    Preset("Identity, ReLU and clipped ReLU",
           "task=digits&hidden=16,16,16&op=quantize&s=1&qmin=0&qmax=3&rule=straight_through"
           "&rule=formula:+g*(x>0)&rule=formula:+g*(0<x<3)&seeds=5&rates=0.001,0.003,0.01,0.03",
           "Look at the rule that is 0 where the quantised activation is flat for good: it ends highest, "
           "each at its own rate. The identity can even push a net out of a minimum.",
           source="Yin et al. 2019, arXiv:1903.05662", lesson="minimum"),
)
