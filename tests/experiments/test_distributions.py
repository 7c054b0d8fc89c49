# SPDX-License-Identifier: BSD-3-Clause
"""Bayes risks are right, and samples are of the distributions that they claim."""

import numpy as np
import pytest

pytest.importorskip("pandas")

from scipy.integrate import quad
from scipy.special import logit
from scipy.stats import multivariate_normal, qmc

from mrforest.experiments import distributions
from mrforest.experiments.distributions import DISTRIBUTIONS, by_quadrature

every = pytest.mark.parametrize(
    "distribution", DISTRIBUTIONS.values(), ids=DISTRIBUTIONS
)


def test_there_are_distributions_of_several_kinds():
    assert len(DISTRIBUTIONS) >= 3
    assert {d.n_classes for d in DISTRIBUTIONS.values()} == {2, 3}
    assert max(d.n_features for d in DISTRIBUTIONS.values()) == 5


@every
def test_rows_and_posteriors_are_what_they_should_be(distribution, seed):
    X, y = distribution.sample(1000, np.random.default_rng(seed))
    assert X.shape == (1000, distribution.n_features)
    assert ((X >= 0) & (X <= 1)).all()
    assert set(y) == set(range(distribution.n_classes))
    posterior = distribution.posterior(X)
    assert posterior.shape == (1000, distribution.n_classes)
    assert (posterior > 0).all()
    np.testing.assert_allclose(posterior.sum(axis=1), 1)


@every
def test_further_features_say_nothing(distribution, seed):
    X = distribution.points(100, np.random.default_rng(seed))
    before = distribution.posterior(X)
    X[:, 2:] = 0.5
    np.testing.assert_array_equal(distribution.posterior(X), before)


@every
def test_the_best_classifier_errs_as_often_as_the_bayes_risk_says(distribution):
    n = 400_000
    X, y = distribution.sample(n, np.random.default_rng(1))
    told = distribution.posterior(X).argmax(axis=1)
    risk = distribution.bayes_risk
    error = np.sqrt(risk * (1 - risk) / n)
    assert np.mean(told != y) == pytest.approx(risk, abs=4 * error)


def test_risk_of_the_wave_by_an_integral_in_closed_form():
    # Along the second feature the integral of expit(-|s|) is known.
    def primitive(s):
        return np.sign(s) * (np.log(2) - np.log1p(np.exp(-np.abs(s))))

    height = 3 * np.sin(2 * np.pi * np.arange(100_000) / 100_000)
    risk = np.mean((primitive(height + 3) - primitive(height - 3)) / 6)
    assert distributions.wave_risk() == pytest.approx(risk, abs=1e-6)


def test_risk_of_three_classes_by_a_sequence_of_low_discrepancy():
    points = qmc.Sobol(2, seed=0).random_base2(20)
    risk = 1 - distributions.thirds(points).max(axis=1).mean()
    assert distributions.thirds_risk() == pytest.approx(risk, abs=2e-5)


def test_risk_of_two_gaussians_by_an_integral_over_the_radius():
    def smaller(r):
        wide = distributions.SPREAD**2
        return r * min(np.exp(-(r**2) / 2), np.exp(-(r**2) / (2 * wide)) / wide)

    risk = quad(smaller, 0, 3, limit=200)[0] + quad(smaller, 3, 40)[0]
    assert distributions.gaussians_risk() == pytest.approx(risk / 2, abs=1e-7)


def test_posterior_of_two_gaussians_is_by_their_densities(seed):
    X = DISTRIBUTIONS["two Gaussians"].points(200, np.random.default_rng(seed))
    z = logit(X[:, :2])
    narrow = multivariate_normal(cov=np.eye(2)).pdf(z)
    wide = multivariate_normal(cov=distributions.SPREAD**2 * np.eye(2)).pdf(z)
    found = distributions.gaussians(X)[:, 1]
    np.testing.assert_allclose(found, wide / (narrow + wide), rtol=1e-6)


def test_squares_of_the_board():
    X = np.array([[0.1, 0.1], [0.1, 0.3], [0.3, 0.3], [1.0, 1.0], [1.0, 0.7]])
    found = distributions.checkerboard(X)[:, 1]
    np.testing.assert_allclose(found, [0.2, 0.8, 0.2, 0.2, 0.8])


def test_quadrature_of_what_can_be_integrated_by_hand():
    # min(x, 1 - x) has the mean 1/4, and a kink.
    found = by_quadrature(lambda X: distributions.two_classes(X[:, 0]), 101)
    assert found == pytest.approx(0.25, abs=1e-4)
