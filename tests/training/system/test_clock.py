from explorer.training.system.clock import WoundClock
from tests.training.driving import Clock


def test_the_clock_runs_while_it_is_wound_then_stops_and_never_runs_back():
    hand = Clock(tick_s=0.0, now=100.0)
    clock = WoundClock(hand, most_s=2.0)
    assert clock() == 0
    for second in range(1, 5):
        hand.now += 1
        assert clock() == clock() == second
        assert clock.wind() == second
    hand.now += 20
    assert clock() == 6
    hand.now += 20
    assert clock() == clock.wind() == 6
    hand.now += 1.5
    assert clock() == 7.5
