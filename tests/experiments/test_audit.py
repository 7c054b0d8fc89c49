# SPDX-License-Identifier: BSD-3-Clause
"""The audits that the command line runs find what they should."""

import math

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

pytest.importorskip("matplotlib")

from mrforest.experiments import audit as audits
from mrforest.experiments.audit_figure import draw
from mrforest.privacy import audit
from tests.privacy.standin import PrivateTree


def stand_in(epsilon, *, bounds, max_depth=1, **_):
    return PrivateTree(epsilon, bounds=bounds, classes=[0, 1], depth=max_depth)


@pytest.fixture(scope="module")
def result():
    patched = pytest.MonkeyPatch()
    patched.setattr(audits, "private_forest", stand_in)
    patched.setattr(audits, "N_LOSSES", 5)
    steps = []
    found = audits.run(runs=160, attacks=4, n_jobs=1, step=lambda: steps.append(None))
    patched.undo()
    assert len(steps) == audits.N_STEPS
    return found


def test_mechanisms(result):
    """Every sound one holds, every broken one is refuted, for each epsilon."""
    checks = [check for check in result.checks if check.audit == "exhaustive"]
    assert len({check.what for check in checks}) == 5
    assert len(checks) == 5 * len(audits.MECHANISM_EPSILONS)
    assert [check.holds for check in checks] == [check.is_sound for check in checks]
    assert sum(not check.is_sound for check in checks) == 2 * 4


def test_forests(result):
    private, printed = (c for c in result.checks if c.audit == "empirical")
    assert private.is_sound
    assert 0 <= private.found < 2
    assert not printed.is_sound
    assert printed.found > 1.0
    assert not printed.holds


def test_attacks(result):
    assert [attack.epsilon for attack in result.attacks] == [
        *audits.ATTACK_EPSILONS, None,
    ]  # fmt: skip
    for attack in result.attacks[:-1]:
        assert attack.result.epsilon == attack.epsilon
        assert attack.result.n_targets == 442
    # A tree of four leaves knows nobody; a forest knows its rows.
    assert abs(result.attacks[0].result.advantage) < 0.2
    assert result.attacks[-1].result.advantage > 0.3


def test_losses(result):
    assert len(result.losses.losses) == 5
    assert result.losses.holds
    assert [n.row for n in result.losses.neighbours] == [0, 142, 284, 426, 568]


def few(checks=(), low=-1.0, epsilon=1.0, loss=0.5):
    """Audits with a result of one's choice."""
    attack = audit.membership(
        DummyClassifier(), [[0]] * 4, [0] * 4, epsilon=epsilon, runs=4, targets=[0]
    )
    attack = audit.MembershipAudit(**{**vars(attack), "low": low})
    losses = audit.ExactAudit(np.array([loss]), (audit.Neighbour(0),), 1.0)
    attacks = [audits.Attack("private", epsilon, attack)]
    return audits.Audits(list(checks), attacks, losses)


def test_surprises_are_counted():
    def check(found, is_sound):
        return audits.Check("exhaustive", "it", 1.0, found, is_sound)

    expected = [check(1.0 + 1e-12, True), check(math.inf, False)]
    assert few(expected).n_surprises == 0
    assert few([check(1.1, True), check(0.9, False)]).n_surprises == 2
    assert few(low=0.5).n_surprises == 1
    assert few(loss=-1.1).n_surprises == 1


def test_the_figure_shows_what_was_found(result):
    mechanisms, forests, attacks, losses = draw(result).axes
    lines = {line.get_label(): line.get_ydata() for line in mechanisms.lines}
    found = [c.found / c.claimed for c in result.checks if c.what == "half-range Gini"]
    assert lines["half-range Gini"].tolist() == found
    assert (lines["cuts of the data (infinite)"] == mechanisms.get_ylim()[1]).all()
    bars = [bar.get_width() for bar in forests.patches]
    assert bars == [c.found for c in result.checks if c.audit == "empirical"]
    (points,) = attacks.containers
    advantages = [a.result.advantage for a in result.attacks if a.epsilon is not None]
    assert points.lines[0].get_ydata().tolist() == advantages
    assert sum(bar.get_height() for bar in losses.patches) == 5
    assert f"{result.losses.largest:.3f}" in losses.get_title()
