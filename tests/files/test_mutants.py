# SPDX-License-Identifier: BSD-3-Clause
"""Files that somebody has tampered with do no harm."""

import random
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrforest.files import ForestFileError, loaded
from tests.files.mutants import mutant, originals, outcome


@pytest.mark.parametrize("number", range(2))
def test_some_mutants(number):
    mutants = [f"{number}/{i}" for i in range(10 * settings().max_examples)]
    found = {outcome(mutant(random.Random(name))) for name in mutants}
    assert {"refused", "loaded"} <= found


@given(st.binary(max_size=200))
def test_any_bytes(content):
    with pytest.raises(ForestFileError):
        loaded(content)


@given(st.data())
def test_cut_anywhere(data):
    content = data.draw(st.sampled_from(originals()))
    with pytest.raises(ForestFileError):
        loaded(content[: data.draw(st.integers(0, len(content) - 1))])


LISTENER = """
import random
import sys
from tests.files.mutants import loaded, mutant, originals, outcome

for content in originals():
    outcome(content)  # imports what it needs
contents = [mutant(random.Random(i)) for i in range(500)]
asked = []
FORBIDDEN = ("compile", "exec", "import", "open", "os.", "pickle.", "subprocess.")

def listen(event, arguments):
    if event.startswith(FORBIDDEN):
        asked.append((event, arguments))

sys.addaudithook(listen)
for content in [*originals(), *contents]:
    try:
        loaded(content)
    except ValueError:
        pass
print(asked[:3])
sys.exit(len(asked) > 0)
"""


def test_no_code_is_run():
    """Python itself tells when something is imported, compiled, run or opened."""
    ran = subprocess.run(
        [sys.executable, "-c", LISTENER], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
