from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

NODE_DTYPE: Final[np.dtype[np.void]]

class SplitRule: ...

class Multinomial(SplitRule):
    feature_budget: float
    split_budget: float
    def __init__(self, feature_budget: float, split_budget: float) -> None: ...

class TrainingTable:
    def __init__(
        self,
        codes: NDArray[np.uint8] | NDArray[np.uint16],
        y: NDArray[np.int32],
        n_classes: int,
        n_bins: NDArray[np.int32],
        is_categorical: NDArray[np.bool_],
        cuts: NDArray[np.float64],
        cuts_start: NDArray[np.int64],
        mass: NDArray[np.int64] | None,
        class_weight: NDArray[np.float64] | None,
        criterion: str,
    ) -> None: ...

def grow_tree(
    table: TrainingTable,
    rule: SplitRule,
    structure: NDArray[np.int32],
    estimation: NDArray[np.int32],
    key: NDArray[np.uint64],
    *,
    min_leaf: int,
    has_floor: bool,
    max_depth: int,
    label_budget: float,
    interrupt: NDArray[np.uint8],
) -> dict[str, NDArray[Any]]: ...
def partition_points(
    key: NDArray[np.uint64], n: int, n_structure: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
def words(
    key: NDArray[np.uint64], path: int, purpose: int, n: int
) -> NDArray[np.uint64]: ...
def encode(
    X: NDArray[np.float64],
    cuts: NDArray[np.float64],
    cuts_start: NDArray[np.int64],
    n_bins: NDArray[np.int32],
    is_categorical: NDArray[np.uint8],
    codes: NDArray[np.uint8] | NDArray[np.uint16],
) -> None: ...
def fingerprints(
    codes: NDArray[np.uint8] | NDArray[np.uint16], y: NDArray[np.int32]
) -> NDArray[np.uint64]: ...
def find_nodes(
    X: NDArray[np.float64],
    nodes: NDArray[np.void],
    tree_start: NDArray[np.int64],
    has_equality: bool,
    out: NDArray[np.int32],
) -> None: ...
def add_votes(
    X: NDArray[np.float64],
    nodes: NDArray[np.void],
    tree_start: NDArray[np.int64],
    has_equality: bool,
    leaf_offset: NDArray[np.int64],
    leaf_label: NDArray[np.uint16],
    votes: NDArray[np.int32],
) -> None: ...
def add_shares(
    X: NDArray[np.float64],
    nodes: NDArray[np.void],
    tree_start: NDArray[np.int64],
    has_equality: bool,
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
