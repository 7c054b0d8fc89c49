from typing import Final, NamedTuple

class WayOfWork(NamedTuple):
    name: str
    stage: str
    taken: str
    instead: str
    code: str

WAYS: Final[tuple[WayOfWork, ...]]
NAMES: Final[tuple[str, ...]]

def switch_off(*names: str) -> None: ...
def is_taken(name: str) -> bool: ...
