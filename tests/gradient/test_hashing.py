"""u as a hash: the same bits everywhere."""

from explorer.gradient import hash_uniform


def by_integers(seed: int, step: int, n: int, layer: int, draw: int) -> list[float]:
    """The same in Python's integers, written apart."""
    word = 2**32

    def mixed(h: int) -> int:
        h = (h ^ h >> 16) * 0x7FEB352D % word
        h = (h ^ h >> 15) * 0x846CA68B % word
        return h ^ h >> 16

    key = 0
    for part in (seed, step, layer, draw):
        key = mixed((key + part + 0x9E3779B9) % word)
    return [((mixed(mixed(i ^ key)) >> 8) + 0.5) / 2**24 for i in range(n)]


def test_the_bits_are_those_of_the_hash() -> None:
    for arguments in ((0, 0, 40, 0, 0), (7, 123456, 40, 3, 1), (1, -1, 40, 0, 2)):
        assert hash_uniform(*arguments).tolist() == by_integers(*arguments)
