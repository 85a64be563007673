"""Tables that somebody could paste."""

import random

from explorer.training import Table


def points(rows=60, seed=0):
    """Two numbers and which of two corners they are near."""
    rng = random.Random(seed)
    lines = [(name, rng.gauss(at, 1), rng.gauss(-at, 1)) for name, at in (("a", 2), ("b", -2)) * (rows // 2)]
    return "left,right,corner\n" + "\n".join(f"{x:.3f},{y:.3f},{label}" for label, x, y in lines)


POINTS = points()


def mixed_table(rows=60):
    """As a European spreadsheet writes it: the row's number, two numbers, the class amid them, a text."""
    lines = points(rows).split("\n")[1:]
    cells = [line.split(",") for line in lines]
    return "Nr;links;Ecke;rechts;Notiz\n" + "\n".join(
        f"{row};{x.replace('.', ',')};{corner};{y.replace('.', ',')};frei {row}"
        for row, (x, y, corner) in enumerate(cells, 1)
    )


CHOSEN = Table(mixed_table(), target="Ecke", without=("Nr", "Notiz"))


def replace_line(text, row, line):
    lines = text.split("\n")
    lines[row] = line
    return "\n".join(lines)
