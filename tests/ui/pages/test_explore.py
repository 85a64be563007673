"""The script of Explore: what a link gives the instrument, and what the instrument reports."""

from explorer.ui.links.choice import Choice
from explorer.ui.links.presets import PRESETS
from tests.ui.opening import chosen, mounted, notices_of, opened, sound, words_of


def test_the_first_visit():
    test = opened()
    start = Choice()
    given = chosen(test)
    assert (given["op"], given["rules"]) == (start.op, list(start.rules))
    assert (given["range"], given["g"], given["parameters"], given["training"]) == ([-3, 3], 1, {}, {})
    assert not notices_of(test)
    examples = mounted(test, "instrument")["examples"]
    assert [(one["name"], one["hint"]) for one in examples] == [(p.name, p.hint) for p in PRESETS]
    assert [one["choice"]["op"] for one in examples] == [p.choice.op for p in PRESETS]


def test_a_link_restores_what_was_seen():
    query = (
        "op=clamp&rule=published_clamp&rule=clipped&rule=formula:+g*k&lo=-0.5&hi=1.25&c=0.75&k=3.5"
        "&range=-2&range=2.5&g=-1.5&hide=clipped&steps=40&section=paste"
    )
    test = opened(query)
    given = chosen(test)
    (own,) = given.pop("own")["rule"]
    assert own["key"] == "formula: g * k"
    assert given == {
        "op": "clamp", "rules": ["published_clamp", "clipped", "formula: g * k"], "hide": ["clipped"],
        "slots": [0, 1, 2],
        "parameters": {"lo": -0.5, "hi": 1.25, "c": 0.75, "k": 3.5}, "range": [-2, 2.5], "g": -1.5,
        "section": "paste", "tools": "", "layer": "", "noise": "uniform", "noise_width": 1.0,
        "f": "(y - target)**2",
        "learns": "", "slow": "", "training": {"steps": "40"},
    }  # fmt: skip
    assert not notices_of(test)


HOSTILE = [
    "op=rund&rule=strait&range=nan&range=1e999&g=inf&steps=-1&colour=red",
    "op=%3Cscript%3Ealert(1)%3C/script%3E&rule=![](http://x)",
    "op=formula:+x.__class__&rule=formula:+__import__('os').system('ls')",
    "op=formula:+9**9**9**9**9**9&rule=formula:+" + "(" * 200,
    "range=1e6&range=1e6&g=1e-320",
    "range=0&range=1e-300",
    "rule=formula:+x*start&op=formula:+start*x&points=7",
    "op=formula:+1/x&rule=formula:+log(x)/0&rule=formula:+tan(x)**99&range=-1e6&range=1e6&g=1e6",
    "lr=1e-300&steps=1e300&seed=-1&batch=nan&hidden=0x10&task=%00",
    "%00=%00&=&rule=&op=&g=",
    "op=" + "a" * 3000,
]


def test_an_error_is_shown_once():
    test = opened(HOSTILE[0])
    assert chosen(test)["rules"] == ["default", "straight_through"]
    words = words_of(test)
    for part in ('unknown op "rund"', 'unknown rule "strait"', '"nan"', '"1e999"', '"inf"', '"colour"'):
        assert part in words
    assert not notices_of(sound(test.run()))


def test_a_suggestion_leads_to_the_same_link_with_the_key_that_is_meant():
    test = opened("op=rond&rule=strait_through&rule=clipped&g=2")
    op, rule = notices_of(test)
    assert op["links"] == {"round": "op=round&rule=strait_through&rule=clipped&g=2"}
    assert rule["links"] == {"straight_through": "op=rond&rule=straight_through&rule=clipped&g=2"}


def test_another_spelling_of_a_key_or_label_is_read_with_a_notice():
    test = opened("op=Quantise&rule=STE&rule=Arctan%20surrogate")
    assert (chosen(test)["op"], chosen(test)["rules"]) == ("quantize", ["straight_through", "atan_surrogate"])
    assert [notice["text"] for notice in notices_of(test)] == [
        'The link\'s op "Quantise" is read as quantize.',
        'The link\'s rule "STE" is read as straight_through.',
        'The link\'s rule "Arctan surrogate" is read as atan_surrogate.',
    ]
