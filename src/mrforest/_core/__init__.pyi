from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mrforest._core import plan as plan

NODE_DTYPE: Final[np.dtype[np.void]]
CODED_NODE_DTYPE: Final[np.dtype[np.void]]
SPLIT_PURPOSE: Final[int]
KERNEL_NAMES: Final[tuple[str, ...]]

def available_kernels() -> tuple[str, ...]: ...
def kernel_name() -> str: ...

Key = NDArray[np.uint64]
Tree = dict[str, NDArray[Any]]

# ---- rules -----------------------------------------------------------------------

class SplitRule:
    looks_at_all: bool
    restricts: bool

class Multinomial(SplitRule):
    feature_budget: float
    split_budget: float
    n_features: int
    def __init__(
        self, feature_budget: float, split_budget: float, n_features: int = 0
    ) -> None: ...

class Greedy(SplitRule):
    n_features: int
    def __init__(self, n_features: int) -> None: ...

class Denil(SplitRule):
    mean: float
    n_points: int
    def __init__(self, mean: float, n_points: int) -> None: ...

class Bernoulli(SplitRule):
    n_features: int
    p1: float
    p2: float
    def __init__(self, n_features: int, p1: float, p2: float) -> None: ...

class DataDriven(SplitRule):
    n_features: int
    p: float
    feature_budget: float
    split_budget: float
    def __init__(
        self, n_features: int, p: float, feature_budget: float, split_budget: float
    ) -> None: ...

class Random(SplitRule): ...

class PythonRule(SplitRule):
    def __init__(self, choose: Callable[..., int | None]) -> None: ...

# ---- tables ----------------------------------------------------------------------

class Target:
    n_columns: int
    criterion: str
    def __init__(
        self,
        y: NDArray[np.int32],
        n_classes: int,
        mass: NDArray[np.int64] | None,
        class_weight: NDArray[np.float64] | None,
        moment: NDArray[np.int64] | None,
        criterion: str,
    ) -> None: ...
    def __len__(self) -> int: ...

class TrainingTable:
    target: Target
    def __init__(
        self,
        target: Target,
        is_categorical: NDArray[np.bool_],
        *,
        codes: NDArray[np.uint8] | NDArray[np.uint16] | None = None,
        n_bins: NDArray[np.int32] | None = None,
        cuts: NDArray[np.float64] | None = None,
        cuts_start: NDArray[np.int64] | None = None,
        values: NDArray[np.float64] | None = None,
        equal_values: NDArray[np.float64] | None = None,
        equal_start: NDArray[np.int64] | None = None,
    ) -> None: ...
    has_cut_bits: bool
    row_cache_bytes: int
    def with_criterion(self, criterion: str) -> TrainingTable: ...
    def wants_columns(self, looks_at_all: bool) -> bool: ...
    def add_columns(self) -> None: ...
    def add_cut_bits(
        self, *, most_others: float = ..., in_parts: Callable[..., Any] | None = ...
    ) -> None: ...

LANES: int

class Subtrees:
    def __init__(
        self,
        codes: NDArray[np.uint8],
        y: NDArray[np.int32],
        n_classes: int,
        slot: NDArray[np.int32],
        is_categorical: NDArray[np.uint8],
        ones: NDArray[np.float64],
        tens: NDArray[np.float64],
        hundreds: NDArray[np.float64],
        negligible: int,
        norm: float,
        squares: bool,
        scale_bits: int,
    ) -> None: ...
    def score(self, counts: NDArray[np.int64]) -> int: ...
    def choose_label(
        self, counts: NDArray[np.int64], u: float, margin: float
    ) -> int: ...
    def part(
        self, rows: NDArray[np.int32], feature: int, code: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...

class RegionSubtrees:
    n_features: int
    n_weights: int
    @property
    def starts(self) -> list[int]: ...
    @property
    def slot(self) -> NDArray[np.int32]: ...
    @property
    def bins(self) -> NDArray[np.int32]: ...
    @property
    def weights(self) -> NDArray[np.void]: ...
    def __init__(
        self,
        table: Subtrees,
        rows: NDArray[np.int32] | None,
        depth: int,
        measure: NDArray[np.float64],
        *,
        counts: NDArray[np.int32] | None = None,
    ) -> None: ...
    def weigh(self, feature: int) -> None: ...
    def weigh_all(self) -> None: ...
    def choose_feature(self, u: float, margin: float) -> int: ...
    def choose_bin(self, f: int, u: float, margin: float) -> int: ...
    def run(self, f: int, b: int) -> tuple[int, int, int]: ...
    def leaves_a_side_empty(self) -> NDArray[np.uint8]: ...

def count_bins(
    codes: NDArray[np.uint8],
    y: NDArray[np.int32],
    rows: NDArray[np.int32],
    columns: NDArray[np.int32],
    bins: NDArray[np.uint8],
    slot: NDArray[np.int32],
    n_classes: int,
) -> NDArray[np.int32]: ...
def count_pairs(
    codes: NDArray[np.uint8],
    y: NDArray[np.int32],
    rows: NDArray[np.int32],
    columns: NDArray[np.int32],
    bins: NDArray[np.uint8],
    slot: NDArray[np.int32],
    n_classes: int,
) -> NDArray[np.int32]: ...
def distinct_values(
    X: NDArray[np.float64], begin: int = 0, end: int = -1
) -> tuple[NDArray[np.float64], NDArray[np.int64]]: ...
def places(
    values: NDArray[np.float64], among: NDArray[np.float64]
) -> NDArray[np.intp]: ...
def encode(
    X: NDArray[np.float64],
    cuts: NDArray[np.float64],
    cuts_start: NDArray[np.int64],
    n_bins: NDArray[np.int32],
    is_categorical: NDArray[np.uint8],
    codes: NDArray[np.uint8] | NDArray[np.uint16],
) -> None: ...
def fingerprints(
    cells: NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint64],
    y: NDArray[np.int32],
    out: NDArray[np.uint64],
) -> None: ...
def write_cut_bits(
    codes: NDArray[np.uint8] | NDArray[np.uint16],
    start: NDArray[np.int32],
    is_categorical: NDArray[np.uint8],
    words: NDArray[np.uint64],
) -> None: ...
def put_in_order(
    codes: NDArray[np.uint8] | NDArray[np.uint16], order: NDArray[np.int32]
) -> None: ...

# ---- points ----------------------------------------------------------------------

def partition_points(
    key: Key, n: int, n_structure: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
def bootstrap_points(key: Key, n: int) -> NDArray[np.int32]: ...
def structure_boundary(key: Key, n: int, n_structure: int) -> tuple[int, int]: ...
def held_out_points(
    key: NDArray[np.uint64], n: int, low: float, high: float
) -> tuple[NDArray[np.int32], int]: ...
def is_structure(
    key: Key, points: NDArray[np.int32], word: int, point: int
) -> NDArray[np.bool_]: ...
def is_held_out(
    key: Key, points: NDArray[np.int32], low: float, high: float
) -> NDArray[np.bool_]: ...
def copies_in_bag(key: Key, n: int, points: NDArray[np.int32]) -> NDArray[np.int32]: ...
def indices(
    key: Key, path: int, purpose: int, limits: NDArray[np.int64]
) -> NDArray[np.int64]: ...
def words(key: Key, path: int, purpose: int, n: int) -> NDArray[np.uint64]: ...

# ---- growth ----------------------------------------------------------------------

class Limits:
    min_split: int
    min_leaf: int
    min_side: int
    max_depth: int
    min_weight: float
    label_budget: float
    def __init__(
        self,
        *,
        min_split: int,
        min_leaf: int,
        max_depth: int,
        min_weight: float,
        label_budget: float,
        interrupt: NDArray[np.uint8],
        min_side: int = 1,
    ) -> None: ...

class Box:
    def __init__(
        self,
        X: NDArray[np.float64],
        is_categorical: NDArray[np.bool_],
        in_the_middle: bool,
    ) -> None: ...

class Comparer: ...

class VectorComparer(Comparer):
    def __init__(
        self, X: NDArray[np.float64], is_categorical: NDArray[np.bool_]
    ) -> None: ...

class MatrixComparer(Comparer):
    def __init__(self, X: NDArray[np.float64], column: NDArray[np.int32]) -> None: ...

class PythonComparer(Comparer):
    def __init__(
        self, ask: Callable[[NDArray[np.int32], int, int], NDArray[np.bool_]]
    ) -> None: ...

def grow_tree(
    table: TrainingTable,
    structure: NDArray[np.int32],
    estimation: NDArray[np.int32] | None,
    key: Key,
    limits: Limits,
    *,
    rule: SplitRule,
    idle: list[Any] | None = None,
    below: tuple[int, int, float, float] | None = None,
) -> Tree: ...
def grow_sampled_tree(
    table: TrainingTable,
    points: NDArray[np.int32],
    n_structure: int,
    key: Key,
    limits: Limits,
    *,
    rule: SplitRule,
    offers_equality: bool,
    max_scored: int,
    min_minority: int,
    n_asked: int = -1,
    idle: list[Any] | None = None,
    below: tuple[int, int, float, float] | None = None,
) -> Tree: ...
def add_prefixes(
    table: TrainingTable,
    tree: Tree,
    held: NDArray[np.int32],
    sizes: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None: ...
def add_leaves(
    table: TrainingTable,
    tree: Tree,
    held: NDArray[np.int32],
    out: NDArray[np.float64],
) -> None: ...
def find_leaves(
    table: TrainingTable, tree: Tree, rows: NDArray[np.int32]
) -> NDArray[np.int32]: ...
def held_impurity(
    table: TrainingTable, tree: Tree, held: NDArray[np.int32]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def impurity_of_classes(table: TrainingTable, counts: NDArray[np.int64]) -> float: ...
def decrease_by_feature(
    nodes: NDArray[Any],
    points: NDArray[np.float64],
    impurity: NDArray[np.float64],
    n_features: int,
) -> NDArray[np.float64]: ...
def held_decrease(
    table: TrainingTable, tree: Tree, held: NDArray[np.int32]
) -> NDArray[np.float64]: ...

POWERS: NDArray[np.float64]

def squared_losses(
    sums: NDArray[np.float64],
    counts: NDArray[np.int64],
    truth: NDArray[np.float64],
    weights: NDArray[np.float64],
    n_trees: int,
) -> NDArray[np.float64]: ...
def sharpened_losses(
    sums: NDArray[np.float64],
    counts: NDArray[np.int64],
    classes: NDArray[np.int32],
    weights: NDArray[np.float64],
    n_trees: int,
    floor: float,
) -> NDArray[np.float64]: ...
def grow_in_range(
    table: TrainingTable,
    structure: NDArray[np.int32],
    estimation: NDArray[np.int32] | None,
    key: Key,
    limits: Limits,
) -> Tree: ...
def grow_purely_random(
    table: TrainingTable,
    structure: NDArray[np.int32],
    estimation: NDArray[np.int32] | None,
    key: Key,
    limits: Limits,
    *,
    box: Box,
    n_leaves: int,
) -> Tree: ...
def grow_centered(
    table: TrainingTable,
    structure: NDArray[np.int32],
    estimation: NDArray[np.int32] | None,
    key: Key,
    limits: Limits,
    *,
    box: Box,
    depth: int,
    n_tries: int,
) -> Tree: ...
def grow_by_comparisons(
    table: TrainingTable,
    structure: NDArray[np.int32],
    estimation: NDArray[np.int32] | None,
    key: Key,
    limits: Limits,
    *,
    comparer: Comparer,
    supervised: bool,
) -> Tree: ...

# ---- nodes whose points are elsewhere --------------------------------------------

class Chooser:
    needs_points: bool
    n_drawn: int
    lacks: bool
    def __init__(
        self,
        table: TrainingTable,
        limits: Limits,
        rule: SplitRule,
        *,
        is_honest: bool,
    ) -> None: ...
    def choose(
        self,
        counts: NDArray[np.int32],
        points: NDArray[np.int32] | None,
        key: Key,
        path: int,
        depth: int,
        n_structure: int,
        n_points: int,
        root_weight: float,
        codes: NDArray[np.int32] | None = None,
        is_known: NDArray[np.uint8] | None = None,
    ) -> tuple[tuple[int, int, bool, bool], tuple[float, int], float] | None: ...
    def points_wanted(
        self, key: Key, path: int, n_structure: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], int]: ...
    def weight(self, counts: NDArray[np.int64]) -> float: ...
    def leaf(
        self, counts: NDArray[np.int64], key: Key, path: int
    ) -> tuple[int, NDArray[np.float64]]: ...

class SampleChooser:
    def __init__(
        self,
        table: TrainingTable,
        limits: Limits,
        *,
        rule: SplitRule,
        offers_equality: bool,
        max_scored: int,
        min_minority: int,
    ) -> None: ...
    def choose(
        self,
        key: Key,
        path: int,
        depth: int,
        n_structure: int,
        n_points: int,
        root_weight: float,
        starts: NDArray[np.int64],
        counts: NDArray[np.int32],
    ) -> (
        tuple[tuple[int, int, bool, bool], tuple[float, int], float]
        | tuple[int, int]
        | None
    ): ...

def sample_places(
    key: Key, path: int, n: int, size: int, first_word: int, start: int, end: int
) -> NDArray[np.int64]: ...
def count_nodes(
    table: TrainingTable,
    rows: NDArray[np.int32],
    first: NDArray[np.int64],
    end: NDArray[np.int64],
) -> NDArray[np.int32]: ...
def count_node_points(
    table: TrainingTable,
    rows: NDArray[np.int32],
    first: NDArray[np.int64],
    end: NDArray[np.int64],
) -> NDArray[np.int32]: ...
def count_node_classes(
    table: TrainingTable,
    rows: NDArray[np.int32],
    first: NDArray[np.int64],
    end: NDArray[np.int64],
) -> NDArray[np.int64]: ...
def part_nodes(
    table: TrainingTable,
    rows: NDArray[np.int32],
    first: NDArray[np.int64],
    end: NDArray[np.int64],
    cuts: NDArray[np.int32],
) -> NDArray[np.int64]: ...

PATH_OF_ROOT: int

def paths_below(path: int) -> tuple[int, int]: ...

# ---- rows through trees ----------------------------------------------------------

class CodedNodes:
    is_wide: bool
    n_columns: int
    n_values: int
    stride: int
    def __init__(
        self,
        nodes: NDArray[np.void] | None,
        features: NDArray[np.int32],
        is_equality: NDArray[np.uint8],
        values: NDArray[np.float64],
        start: NDArray[np.int64],
        slim_nodes: NDArray[np.uint32] | None,
    ) -> None: ...

class Rows:
    def __init__(
        self,
        X: NDArray[np.float64],
        nodes: NDArray[np.void],
        tree_start: NDArray[np.int64],
        has_equality: bool,
        coded: CodedNodes | None,
    ) -> None: ...

class LeafShares:
    def __init__(
        self,
        nodes: NDArray[np.void],
        leaf_offset: NDArray[np.int64],
        mass_start: NDArray[np.int64],
        mass_class: NDArray[np.uint16],
        mass: NDArray[np.float32],
        n_classes: int,
    ) -> None: ...
    def lay_out(self, tree_start: NDArray[np.int64], first_tree: int) -> None: ...

class BitVotes:
    def __init__(
        self,
        coded: CodedNodes,
        tree_start: NDArray[np.int64],
        labels: NDArray[np.int32],
        n_classes: int,
        n_features: int,
    ) -> None: ...
    def count_votes(self, X: NDArray[np.float64], votes: NDArray[np.int32]) -> int: ...

def common_labels(
    nodes: NDArray[np.void],
    tree_start: NDArray[np.int64],
    leaf_offset: NDArray[np.int64],
    leaf_label: NDArray[np.uint16],
) -> NDArray[np.int32]: ...
def find_nodes(
    rows: Rows,
    out: NDArray[np.int32],
) -> None: ...
def find_nodes_by_vectors(
    X: NDArray[np.float64],
    nodes: NDArray[np.void],
    tree_start: NDArray[np.int64],
    pivots: NDArray[np.int32],
    pivot_rows: NDArray[np.float64],
    is_categorical: NDArray[np.bool_],
    out: NDArray[np.int32],
) -> None: ...
def find_nodes_by_matrix(
    X: NDArray[np.float64],
    nodes: NDArray[np.void],
    tree_start: NDArray[np.int64],
    pivots: NDArray[np.int32],
    out: NDArray[np.int32],
) -> None: ...
def add_votes(
    rows: Rows,
    leaf_offset: NDArray[np.int64],
    leaf_label: NDArray[np.uint16],
    votes: NDArray[np.int32],
) -> None: ...
def add_labels(
    rows: Rows,
    labels: NDArray[np.uint16],
    votes: NDArray[np.int32],
) -> None: ...
def add_leaf_shares(
    rows: Rows,
    leaf_shares: LeafShares,
    shares: NDArray[np.float64],
) -> None: ...
def add_shares(
    rows: Rows,
    leaf_offset: NDArray[np.int64],
    mass_start: NDArray[np.int64],
    mass_class: NDArray[np.uint16],
    mass: NDArray[np.float32],
    shares: NDArray[np.float64],
) -> None: ...
def add_values(
    rows: Rows,
    leaf_offset: NDArray[np.int64],
    leaf_value: NDArray[np.float64],
    values: NDArray[np.float64],
) -> None: ...
def add_votes_at(
    where: NDArray[np.int32],
    nodes: NDArray[np.void],
    tree_start: NDArray[np.int64],
    leaf_offset: NDArray[np.int64],
    leaf_label: NDArray[np.uint16],
    votes: NDArray[np.int32],
) -> None: ...
def add_shares_at(
    where: NDArray[np.int32],
    nodes: NDArray[np.void],
    tree_start: NDArray[np.int64],
    leaf_offset: NDArray[np.int64],
    mass_start: NDArray[np.int64],
    mass_class: NDArray[np.uint16],
    mass: NDArray[np.float32],
    shares: NDArray[np.float64],
) -> None: ...
def estimation_decrease(
    nodes: NDArray[np.void],
    tree_start: NDArray[np.int64],
    leaf_offset: NDArray[np.int64],
    leaf_points: NDArray[np.uint32],
    mass_start: NDArray[np.int64],
    mass_class: NDArray[np.uint16],
    mass: NDArray[np.float32],
    n_classes: int,
    n_features: int,
) -> NDArray[np.float64]: ...
def value_decrease(
    nodes: NDArray[np.void],
    tree_start: NDArray[np.int64],
    leaf_offset: NDArray[np.int64],
    leaf_points: NDArray[np.uint32],
    leaf_mass: NDArray[np.float64],
    leaf_value: NDArray[np.float64],
    leaf_variance: NDArray[np.float64],
    n_features: int,
) -> NDArray[np.float64]: ...

# ---- trees in less room ----------------------------------------------------------

def pack_nodes(
    nodes: NDArray[np.void],
    tree_start: NDArray[np.int64],
    cuts: NDArray[np.float64],
    cuts_start: NDArray[np.int64],
) -> tuple[NDArray[np.uint8], NDArray[np.uint32], NDArray[np.uint32]] | None: ...
def unpack_nodes(
    is_inner: NDArray[np.uint8],
    feature: NDArray[np.uint32],
    cut: NDArray[np.uint32],
    cuts: NDArray[np.float64],
    cuts_start: NDArray[np.int64],
    tree_start: NDArray[np.int64],
) -> NDArray[np.void]: ...
def find_cuts(
    nodes: NDArray[np.void],
    cuts: NDArray[np.float64],
    cuts_start: NDArray[np.int64],
    place: NDArray[np.int32],
    is_ordered: NDArray[np.uint8],
    is_equal: NDArray[np.uint8],
) -> None: ...
def write_codes(
    nodes: NDArray[np.void],
    tree_start: NDArray[np.int64],
    cuts_start: NDArray[np.int64],
    place: NDArray[np.int32],
    column_of_feature: NDArray[np.int32],
    column_of_cut: NDArray[np.int32],
    coded: NDArray[np.void] | None,
    slim: NDArray[np.uint32] | None,
) -> bool: ...
def shortest(array: NDArray[Any]) -> NDArray[Any]: ...

# ---- randomness that nobody can foresee ------------------------------------------

class ChaCha20:
    def __init__(self, key: bytes, nonce: bytes, *, counter: int = 0) -> None: ...
    def read(self, n_bytes: int) -> bytes: ...
    def below(self, n: int) -> int: ...
