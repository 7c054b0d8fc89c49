# SPDX-License-Identifier: BSD-3-Clause
"""How the forests to use by default tune themselves (docs/algorithm.md, §11)."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from tests.naive.losses import (
    Loss,
    Said,
    best_power,
    logarithmic_loss,
    mean,
    powers_tried,
    raised,
    sharpen,
    sharpened,
    squared_error,
    unbounded_loss,
)
from tests.naive.model import Table
from tests.naive.rng import tree_key
from tests.naive.rules import Multinomial
from tests.naive.sampled import (
    SampledParams,
    SampledTree,
    grow_sampled,
    held_out_points,
    says,
    trees_of_group,
    way_of,
)

MOST_ASKED = 4096
SHARE_OF_TRIALS = 0.5
LEVEL_BUDGETS = [10.0, 20.0, 40.0]
LEVEL_EXPONENTS = [1 / 2, 3 / 4, 1]

Grow = Callable[..., SampledTree]


@dataclass(frozen=True)
class Setting:
    """What is tried."""

    max_features: int
    feature_budget: float
    split_budget: float
    equality_cuts: bool
    criterion: str


@dataclass(frozen=True)
class Asked:
    """What the user fixes, None for what is to be chosen.

    A node of at most `leaf_size` points is a leaf; `min_side` is `min_samples_leaf`.
    """

    seed: int
    n_estimators: int
    max_samples: float = 0.8
    max_features: int | None = None
    feature_budget: float | None = None
    split_budget: float | None = None
    equality_cuts: bool | None = None
    criterion: str | None = None
    leaf_size: int | None = None
    min_side: int = 1
    min_weight_fraction: float = 0.0
    max_depth: int | None = None
    calibrate: bool = True


@dataclass
class Trial:
    """What a setting was worth.

    The losses of leaf sizes are raised to 0; `unbounded` are the same before. `powers`
    are the logarithmic losses of powers, `briers` the squared errors. `said` is what
    the trees say of the points with each leaf size.
    """

    setting: Setting
    leaf_sizes: list[int]
    unbounded: list[float]
    said: list[list[Said]]
    leaf_size: int = 0
    loss: float = 0.0
    power: float = 1.0
    briers: list[float] = field(default_factory=list)
    powers: list[float] = field(default_factory=list)

    @property
    def losses(self) -> list[float]:
        """The loss of each leaf size."""
        return [raised(loss) for loss in self.unbounded]

    @property
    def best(self) -> list[Said]:
        """What trees of the best leaf size say."""
        return self.said[self.leaf_sizes.index(self.leaf_size)]


@dataclass
class Tuned:
    """A forest, and what was found out on the way.

    The out-of-bag estimates are those of all points, None if there is none; numbers of
    a regression are moments over masses. `powers` are the logarithmic losses of powers
    of the whole forest, nothing if no row counts.
    """

    setting: Setting
    leaf_size: int
    power: float
    trials: list[Trial]
    out_of_bag: list[list[float] | None]
    trees: list[SampledTree]
    powers: list[float]


# --- What there is to try -------------------------------------------------------------


def _is_regression(table: Table) -> bool:
    return table.moment is not None


def offers_equality(table: Table) -> bool:
    """Tell whether a numeric feature may be cut by equality."""
    return table.equal_values is not None and any(map(len, table.equal_values))


def levels(table: Table, asked: Asked) -> list[Setting]:
    """Return the settings of the first step, in their order."""
    n_features = table.codes.shape[1]
    criterion = asked.criterion or "entropy"
    if _is_regression(table):
        criterion = "variance"
    found: list[Setting] = []
    for exponent, budget in zip(LEVEL_EXPONENTS, LEVEL_BUDGETS, strict=True):
        some = math.floor(n_features**exponent + 1 / 2)
        setting = Setting(
            some if asked.max_features is None else asked.max_features,
            budget if asked.feature_budget is None else asked.feature_budget,
            budget if asked.split_budget is None else asked.split_budget,
            bool(asked.equality_cuts),
            criterion,
        )
        if setting not in found:
            found.append(setting)
    return found


def leaf_sizes(n: int, asked: Asked) -> list[int]:
    """Return the leaf sizes to try, ascending."""
    if asked.leaf_size is not None:
        return [asked.leaf_size]
    highest = max(1, n ** (3 / 4))
    sizes = {factor * 2**i for factor in (1, 3) for i in range(n.bit_length())}
    return sorted(size for size in sizes if size <= highest)


# --- Trees and what they say ----------------------------------------------------------


def params_of(setting: Setting, leaf_size: int, asked: Asked) -> SampledParams:
    """Return how a tree is grown."""
    return SampledParams(
        rule=Multinomial(
            setting.feature_budget, setting.split_budget, setting.max_features
        ),
        min_samples_split=leaf_size + 1,
        criterion=setting.criterion,
        max_scored=256 if setting.criterion == "variance" else 128,
        max_depth=asked.max_depth,
        min_weight_fraction=asked.min_weight_fraction,
        min_side=asked.min_side,
        offers_equality=setting.equality_cuts,
    )


def prefixes_say(
    table: Table, grown: SampledTree, point: int, sizes: Sequence[int]
) -> list[list[float]]:
    """Return what the prefix of each leaf size says of a point that is held out."""
    way = way_of(grown, point)
    said: dict[int, list[float]] = {}
    out = []
    for size in sizes:
        leaf = next((n for n in way if len(grown.points[n]) <= size), way[-1])
        if leaf not in said:
            others = [row for row in grown.points[leaf] if row != point]
            numbers = says(table, others)
            said[leaf] = numbers if isinstance(numbers, list) else [numbers]
        out.append(said[leaf])
    return out


def grow_and_ask(
    table: Table,
    params: SampledParams,
    asked: Asked,
    n_trees: int,
    sizes: Sequence[int],
    n_asked: int,
    grow: Grow,
) -> tuple[list[SampledTree], list[list[Said]]]:
    """Grow trees, and ask them about the first points that they hold out."""
    n = len(table.y)
    said = [[Said() for _ in range(n_asked)] for _ in sizes]
    trees = []
    for number in range(n_trees):
        structure, held = held_out_points(asked.seed, number, n, asked.max_samples)
        key = tree_key(asked.seed, number)
        grown = grow(table, structure + held, len(structure), key, params)
        trees.append(grown)
        half = number // trees_of_group(n, asked.max_samples) % 2
        for point in held:
            if point < n_asked:
                for s, numbers in enumerate(prefixes_say(table, grown, point, sizes)):
                    said[s][point].halves[half].append(numbers)
    return trees, said


# --- Losses ---------------------------------------------------------------------------


def weights_of(table: Table) -> list[float]:
    """Return the weight of each point: its mass times its class weight."""
    masses = [1.0] * len(table.y) if table.mass is None else table.mass.tolist()
    if table.class_weight is None:
        return [float(mass) for mass in masses]
    pairs = zip(masses, table.y, strict=True)
    return [float(mass) * float(table.class_weight[c]) for mass, c in pairs]


def squared_error_of(table: Table) -> Loss:
    """Return the squared error of predictions for the points of a table."""
    if table.moment is None:
        classes = range(table.n_classes)
        return squared_error([[float(c == y) for c in classes] for y in table.y])
    masses = [1] * len(table.y) if table.mass is None else table.mass.tolist()
    pairs = zip(table.moment.tolist(), masses, strict=True)
    return squared_error([[float(moment) / float(mass)] for moment, mass in pairs])


def losses_of_powers(
    table: Table, said: list[Said], n_trees: int, loss: Loss
) -> list[float]:
    """Return the mean loss with each power; none if no row counts."""
    n, weights = len(table.y), weights_of(table)
    losses = []
    for power in powers_tried(n):
        with_power = sharpened(loss, power, 1 / (n + 1))
        losses.append(unbounded_loss(said, weights, with_power, n_trees))
    return [] if math.isnan(losses[0]) else losses


def power_of(n: int, losses: list[float], otherwise: float) -> float:
    """Return the power of the smallest logarithmic loss."""
    if not losses:
        return otherwise
    return best_power(powers_tried(n), [raised(loss) for loss in losses])


# --- Trials ---------------------------------------------------------------------------


def try_setting(
    table: Table, setting: Setting, sizes: list[int], asked: Asked, grow: Grow
) -> Trial:
    """Find the best leaf size of a setting, and its loss."""
    n = len(table.y)
    n_pairs = min(max(16384 // n, 4), 50)
    of_trial = replace(asked, max_samples=SHARE_OF_TRIALS)
    params = params_of(setting, sizes[0], asked)
    n_asked = min(n, MOST_ASKED)
    _, said = grow_and_ask(table, params, of_trial, 2 * n_pairs, sizes, n_asked, grow)
    weights, squares = weights_of(table), squared_error_of(table)
    n_trees = asked.n_estimators
    unbounded = [unbounded_loss(of, weights, squares, n_trees) for of in said]
    trial = Trial(setting, sizes, unbounded, said)
    trial.leaf_size = sizes[trial.losses.index(min(trial.losses))]
    trial.loss = min(trial.losses)
    if not _is_regression(table):
        trial.briers = losses_of_powers(table, trial.best, n_trees, squares)
        trial.loss = min([raised(loss) for loss in trial.briers], default=0.0)
        logarithms = logarithmic_loss(table.y)
        trial.powers = losses_of_powers(table, trial.best, n_trees, logarithms)
        trial.power = power_of(n, trial.powers, 1.0)
    return trial


def try_settings(table: Table, asked: Asked, grow: Grow) -> list[Trial]:
    """Return all trials in their order."""
    to_try, sizes = levels(table, asked), leaf_sizes(len(table.y), asked)
    tries_equality = asked.equality_cuts is None and offers_equality(table)
    tries_gini = asked.criterion is None and not _is_regression(table)
    if len(to_try) == len(sizes) == 1 and not tries_equality and not tries_gini:
        return []

    best = try_setting(table, to_try[0], sizes, asked, grow)
    trials = [best]

    def is_better(setting: Setting) -> bool:
        nonlocal best
        large = [size for size in sizes if size >= best.leaf_size // 4]
        trial = try_setting(table, setting, large, asked, grow)
        trials.append(trial)
        if trial.loss < best.loss:
            best = trial
            return True
        return False

    for setting in to_try[1:]:
        if not is_better(setting):
            break
    if tries_equality:
        is_better(replace(best.setting, equality_cuts=True))
    if tries_gini:
        is_better(replace(best.setting, criterion="gini"))
    return trials


def best_of(trials: list[Trial]) -> Trial:
    """Return the first of the trials with the smallest loss."""
    best = trials[0]
    for trial in trials[1:]:
        if trial.loss < best.loss:
            best = trial
    return best


def tune(
    table: Table,
    asked: Asked,
    grow: Grow = grow_sampled,
    grow_trials: Grow = grow_sampled,
) -> Tuned:
    """Choose a setting, grow the forest, and find its power.

    `grow` grows the trees of the forest, `grow_trials` those of trials. The twin is
    slow: a faster function that grows the same trees may stand in for it.
    """
    n = len(table.y)
    trials = try_settings(table, asked, grow_trials)
    if trials:
        best = best_of(trials)
        setting, leaf_size, power = best.setting, best.leaf_size, best.power
    else:
        setting = levels(table, asked)[0]
        leaf_size, power = leaf_sizes(n, asked)[0], 1.0
    params = params_of(setting, leaf_size, asked)
    n_trees, sizes = asked.n_estimators, [leaf_size]
    trees, (said,) = grow_and_ask(table, params, asked, n_trees, sizes, n, grow)
    powers: list[float] = []
    if not _is_regression(table):
        first, logarithms = said[:MOST_ASKED], logarithmic_loss(table.y)
        powers = losses_of_powers(table, first, n_trees, logarithms)
        power = power_of(n, powers, power)
    out_of_bag: list[list[float] | None] = []
    for of_point in said:
        numbers = mean(of_point.everything) if of_point.everything else None
        if numbers is not None and not _is_regression(table) and asked.calibrate:
            numbers = sharpen(numbers, power, 1 / (n + 1))
        out_of_bag.append(numbers)
    return Tuned(setting, leaf_size, power, trials, out_of_bag, trees, powers)
