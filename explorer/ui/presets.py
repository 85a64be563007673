"""Ready-made choices, each the query of a link and a sentence on what to try."""

from dataclasses import dataclass

from explorer.ui.link import Choice, from_text


@dataclass(frozen=True)
class Preset:
    """A named choice: ``query`` is what a link to it would hold.

    ``train`` are the words of a link that trains it, "" for none.
    """

    name: str
    query: str
    hint: str
    train: str = ""

    @property
    def choice(self) -> Choice:
        """The choice the query stands for."""
        return from_text(self.query)[0]


# fmt: off
PRESETS = (
    Preset("Why round stops learning", "op=round&rule=default&rule=straight_through",
           "Autograd's gradient is 0 wherever you look; straight-through lets g pass.",
           train="Train both"),
    Preset("Learning through sign", "op=sign&rule=default&rule=straight_through",
           "Autograd's gradient is 0 beside the jump too: no weight before it learns.",
           train="Train both"),
    Preset("ClampGradient's bug", "op=clamp&rule=straight_through&rule=published_clamp&range=0&range=2",
           "At g = 1 the two look the same. Set the upstream gradient g to 2 to see the bug above 1."),
    Preset("MyReLU at exactly 0", "op=relu&rule=default&rule=seed_relu&range=-1&range=1",
           "Hover over x = 0: the hand-written rule passes g there, torch does not."),
    Preset("Binary weights", "op=sign&rule=default&rule=straight_through&rule=clipped",
           "Move c: the window decides which weights may still change sides."),
    Preset("Is a bound inside?", "op=clamp&rule=default&rule=masked&rule=masked_open",
           "The rules differ at two points only, and torch has changed its mind about them."),
)

# For the page of trainings; with these settings each ends as its hint says. Those without a task train the
# net of the documents.
TRAINING = (
    Preset("Digits through round", "task=digits&op=round&rule=default&rule=straight_through&seeds=5",
           "Autograd's gradient of round is 0: the first layer never moves, and only the last one learns. "
           "Straight-through reads more of the digits it has not seen."),
    Preset("Three layers of sign", "task=digits&hidden=16,16,16&lr=0.003&op=sign&rule=default"
           "&rule=straight_through&rule=clipped&seeds=5",
           "With autograd's gradient of sign no layer but the last one learns. Straight-through does far "
           "better, and Clipped, which passes nothing far from the jump, better still."),
    Preset("A clamp rule with a bug", "task=digits&op=clamp&rule=default&rule=published_clamp&rule=zero"
           "&seeds=5",
           "Above its bound the published rule returns 1, whatever g is: it ends lower than Zero, which "
           "leaves the first layer as it was."),
    Preset("Rings of points", "task=circles&op=sign&rule=default&rule=straight_through&rule=reste&seeds=5",
           "The steep roots of ReSTE tell the rings apart; straight-through ends lower, and autograd lower "
           "still."),
    Preset("Weights of one bit", "task=binary+weights&op=binarize&rule=default&rule=straight_through"
           "&rule=clipped&c=0.1&seeds=5",
           "The op makes −1 or 1 of each weight. Straight-through trains them; a window too narrow for most "
           "weights hardly does: make c larger."),
    Preset("Spikes and their surrogates", "task=spikes&op=step&rule=default&rule=boxcar&rule=fast_sigmoid"
           "&k=1&w=0.02&seeds=3",
           "The op is the spike of a leaky unit. The wide fast sigmoid teaches the spiking layers; a boxcar "
           "too narrow does little more than autograd's 0."),
    Preset("Learning through sign", "op=sign&rule=default&rule=straight_through",
           "Autograd's gradient of sign is 0: w1 never moves, and the loss hardly falls. Straight-through "
           "ends far lower."),
    Preset("Quantised activations", "op=quantize&rule=default&rule=straight_through",
           "A staircase has gradient 0 between its steps. Straight-through looks past them, and w1 learns."),
    Preset("When w2 learns alone", "op=round&rule=default&rule=straight_through",
           "Here the rule without a gradient ends lower: w2 alone learns 64 random answers by heart, on "
           "hidden values that stand still."),
    Preset("A window too narrow", "op=sign&rule=straight_through&rule=clipped",
           "Clipped lets g pass where |x| ≤ c only. Most pre-activations lie far outside, so w1 hardly "
           "moves: make c larger."),
    Preset("A spike and its surrogates", "op=step&rule=default&rule=triangle&rule=straight_through",
           "The narrower the surrogate, the less of the gradient it passes on, and the less w1 learns."),
    Preset("A step too large", "op=relu&rule=default&lr=1e-5",
           "Ten times the learning rate, and the loss grows until it is no longer finite. Try 1e-6."),
)
