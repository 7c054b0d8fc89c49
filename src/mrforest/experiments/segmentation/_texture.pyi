import numpy as np
from numpy.typing import NDArray

def haralick_features(
    levels: NDArray[np.uint8],
    n_levels: int,
    window: int,
    offsets: NDArray[np.int32],
    first_row: int,
    features: NDArray[np.float64],
) -> None: ...
