"""Which answers share seats: what takes long holds up its own kind alone."""

from explorer.ui.server import answers
from explorer.ui.server.admission import limits


def test_checks_do_not_wait_for_near_rules_nor_curves_for_checks():
    """And of near rules, whose seats are fewest, no visitor has all."""
    import app  # a second for every process that collects this file

    seats = {name: app._SLOTS[question.seats] for name, question in answers.QUESTIONS.items()}
    assert seats["checks"] is seats["row"]
    assert len({id(seats[name]) for name in ("curves", "checks", "neighbours")}) == 3
    assert seats["neighbours"]._slots == limits.SEARCH_SLOTS > seats["neighbours"]._slots_per_visitor
