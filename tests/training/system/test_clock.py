from explorer.training.system.clock import WoundClock


class Hand:
    now = 100.0

    def __call__(self):
        return self.now


def test_it_goes_on_while_it_is_wound():
    hand = Hand()
    clock = WoundClock(hand, most_s=2.0)
    assert clock() == 0
    for second in range(1, 5):
        hand.now += 1
        assert clock() == clock() == second
        assert clock.wind() == second


def test_it_stands_when_nobody_winds_it_and_never_goes_back():
    hand = Hand()
    clock = WoundClock(hand, most_s=2.0)
    hand.now += 20
    assert clock() == 2
    hand.now += 20
    assert clock() == clock.wind() == 2
    hand.now += 1.5
    assert clock() == 3.5
