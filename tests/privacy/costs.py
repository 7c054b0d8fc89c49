# SPDX-License-Identifier: BSD-3-Clause
"""Random costs and ledgers."""

from hypothesis import strategies as st

from mrforest.privacy import Item, Ledger, Parallel, Sequential

# Tiny, huge and ordinary ones
costs = st.one_of(
    st.floats(0, allow_infinity=False),
    st.floats(0, 10),
    st.sampled_from([0.0, 5e-324, 0.1, 1 / 3, 1.0, 2.0**53, 1.7976931348623157e308]),
)


@st.composite
def items(draw, epsilons=costs) -> Item:
    mechanism = draw(st.sampled_from(["exponential", "geometric", "permute-and-flip"]))
    return Item(
        draw(st.text(max_size=5)),
        mechanism,
        draw(epsilons),
        draw(st.none() | st.integers(0, 999)),
        draw(st.none() | st.integers(0, 9)),
        mechanism == "exponential" and draw(st.booleans()),
    )


def releases(epsilons=costs):
    return st.recursive(
        items(epsilons),
        lambda inner: st.builds(
            lambda kind, parts, over: kind(parts, over),
            st.sampled_from([Sequential, Parallel]),
            st.lists(inner, max_size=4),
            st.text(max_size=5),
        ),
        max_leaves=12,
    )


ledgers = st.builds(Ledger, releases())
