"""The quantile of the normal distribution against torch."""

import numpy as np
import torch

from tests.frontend.modules import Node


def test_the_quantile_is_torchs_to_the_last_bits(node: Node):
    generator = np.random.default_rng(0)
    tails = 10 ** generator.uniform(-300, -1, 4000)
    chances = np.concatenate([generator.uniform(0, 1, 4000), tails, 1 - tails, [0.0, 0.5, 1.0, -0.1, 1.1]])
    body = 'const { ndtri } = await import("./formula/normal.js"); return Float64Array.from(given, ndtri);'
    found = node.run(body, chances.tolist())
    expected = torch.special.ndtri(torch.tensor(chances)).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-15, atol=0)


def test_a_formula_reads_draws_and_the_normal_number_is_that_of_u(node: Node):
    u = [0.1, 0.5, 0.975]
    found = node.run(
        """
        const { evaluate } = await import("./formula/evaluation.js");
        const tree = ["+", ["*", ["name", "s"], ["name", "normal()"]], ["name", "f()"]];
        const draws = { "u()": Float64Array.from(given), "f()": Float64Array.of(10, 20, 30) };
        return evaluate(tree, { x: Float64Array.of(0, 0, 0), parameters: { s: 2 }, draws });
        """,
        u,
    )
    quantiles = torch.special.ndtri(torch.tensor(u, dtype=torch.float64)).numpy()
    np.testing.assert_allclose(found, 2 * quantiles + [10, 20, 30], rtol=1e-15)
