from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory.context.assemble import assemble
from memory.context.constants import AUTHORITY_LINE
from memory.context.packet import Block, BlockState, SourceRef, packet_text


def block(name: str, authority: int, chars: int, **fields) -> Block:
    lines = (f"{name} line {number}" for number in range(chars))
    text = "\n".join(lines)[:chars]
    return Block(name=name, authority=authority, text=text, **fields)


def packet(*blocks: Block, ceiling: int = 10_000):
    return assemble(blocks, ceiling=ceiling, mode="persistent")


def test_blocks_stand_in_the_order_of_their_authority_and_the_packet_says_so() -> None:
    made = packet(
        block("history", 6, 50), block("lessons", 1, 50), block("rules", 0, 50), block("semantic", 2, 50)
    )
    assert [b.name for b in made.blocks] == ["rules", "authority", "lessons", "semantic", "history"]
    assert made.text.count(AUTHORITY_LINE) == 1


def test_equals_keep_the_order_of_the_sources() -> None:
    made = packet(block("thread", 0, 50), block("rules", 0, 50))
    assert [b.name for b in made.blocks] == ["thread", "rules"]


def test_without_memory_there_is_no_line_on_authority() -> None:
    assert AUTHORITY_LINE not in packet(block("rules", 0, 50)).text


def test_over_the_ceiling_the_lowest_authority_goes_first_and_is_named() -> None:
    ref = SourceRef("lesson", 7, "les:7")
    made = packet(
        block("rules", 0, 300),
        block("lessons", 1, 300, sources=(ref,)),
        block("history", 6, 400),
        ceiling=1_100,
    )
    assert made.block("history").state is BlockState.OMITTED
    assert "over the budget of 1,100 characters: this block has 400" in made.block("history").reason
    assert made.block("lessons").text
    assert made.text.endswith("Left out of this prompt for lack of room: history.")


def test_what_an_omitted_block_held_is_recorded() -> None:
    ref = SourceRef("episodic", 7, "epi:7")
    made = packet(block("rules", 0, 300), block("episodic", 5, 900, sources=(ref,)), ceiling=800)
    assert made.block("episodic").left_out == (ref,)
    assert made.sources == ()


def test_an_empty_block_is_not_reported_as_lack_of_room() -> None:
    made = packet(
        block("rules", 0, 50), Block(name="episodic", authority=5, text="", state=BlockState.OMITTED)
    )
    assert "lack of room" not in made.text


def test_a_frame_that_is_too_long_alone_is_cut_at_a_line() -> None:
    made = packet(block("steering", 0, 3_000), block("rules", 0, 200), ceiling=1_000)
    assert made.block("steering").state is BlockState.TRIMMED
    assert "cut here" in made.text
    assert made.block("rules").state is BlockState.ADMITTED


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3_000)), max_size=10),
    st.integers(400, 5_000),
)
def test_no_packet_is_over_its_ceiling_and_every_block_is_accounted_for(
    shapes: list[tuple[int, int]], ceiling: int
) -> None:
    blocks = [block(f"b{number}", authority, chars) for number, (authority, chars) in enumerate(shapes)]
    made = packet(*blocks, ceiling=ceiling)
    assert made.total_chars <= ceiling
    assert {b.name for b in made.blocks} >= {b.name for b in blocks}
    for given_block in blocks:
        shown = made.block(given_block.name)
        if shown.text != given_block.text:
            assert shown.state in {BlockState.OMITTED, BlockState.TRIMMED}
            assert shown.reason


def test_degradations_are_listed_once_in_order() -> None:
    first = Block(name="a", authority=2, text="x", degraded=("embedder_loading", "index_behind"))
    second = Block(name="b", authority=5, text="y", degraded=("embedder_loading",))
    made = assemble([second, first], ceiling=1_000, mode="persistent", degraded=("embedding_deadline",))
    assert made.degraded == ("embedding_deadline", "embedder_loading", "index_behind")


def test_a_stored_packet_renders_to_the_same_text() -> None:
    made = packet(block("rules", 0, 80), block("lessons", 1, 80), block("history", 6, 700), ceiling=900)
    assert packet_text(made.as_json()) == made.text
