"""The oracles notice small faults: the share that goes unnoticed is counted, and each is argued."""

from tests.catalogue.mutation import EQUIVALENT, survey


def test_faults_in_rules_are_noticed():
    made, survivors = survey()
    assert len(made) == 5
    assert min(made.values()) >= 20
    assert len(survivors) <= 0.05 * made.total()
    assert {(mutant.rule.key, mutant.formula.text) for mutant in survivors} == set(EQUIVALENT)
