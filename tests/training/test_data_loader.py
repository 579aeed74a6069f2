"""Tokens equal llama.cpp's, rows keep dialogues apart, worker processes depend on the seed alone."""

from __future__ import annotations

import itertools
import random
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import llama_cpp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgevox.core.errors import EngineFailed, ModelError
from edgevox.core.types import ChatRequest, Message
from edgevox.llm.context import Vocabulary
from edgevox.llm.prompt.templates import ChatTemplate
from edgevox.llm.prompt.writer import PromptWriter
from tests.models.lora_files import write_adapter
from tests.training.little_scenes import scenes
from training.llm.data_loader import Row, RowWorkers, Tokens, load_generator, rows
from training.types import Dialogue, Line, Scene

ON = Dialogue("on", (Line("user", "on"), Line("assistant", "[on()]", learnt=True)))
AGAIN = Dialogue(
    "again",
    (
        Line("user", "off"),
        Line("assistant", "[off()]"),
        Line("user", "again"),
        Line("assistant", "[on()]", learnt=True),
    ),
)


def said(row: Row, tokens: Tokens, segment: int) -> str:
    return tokens.text(row.tokens[row.segments == segment].tolist())


def test_dialogues_stand_behind_their_system_prompt_and_continue_its_positions(byte_tokens: Tokens) -> None:
    (row,) = rows([Scene("S", (AGAIN, ON))], byte_tokens, 512)
    assert said(row, byte_tokens, 1) == "<|im_start|>system\nS<|im_end|>\n"
    assert said(row, byte_tokens, 3) == ("<|im_start|>user\non<|im_end|>\n<|im_start|>assistant\n[on()]<|im_end|>\n")
    system = int(np.count_nonzero(row.segments == 1))
    for segment in (2, 3):
        positions = row.positions[row.segments == segment]
        assert positions.tolist() == list(range(system, system + len(positions)))
        assert set(row.roots[row.segments == segment].tolist()) == {1}
    assert row.used == Counter(on=1, again=1)


def test_only_the_learnt_words_and_their_end_are_targets(byte_tokens: Tokens) -> None:
    (row,) = rows([Scene("S", (ON, AGAIN))], byte_tokens, 512)
    for segment in (2, 3):
        targets = row.targets[row.segments == segment]
        assert byte_tokens.text(targets[targets >= 0].tolist()) == "[on()]<|im_end|>"
    assert row.learnt_tokens == 2 * len(byte_tokens.of("[on()]")) + 2


def test_a_target_is_the_token_that_comes_next(byte_tokens: Tokens) -> None:
    for row in itertools.islice(rows(scenes(1), byte_tokens, 1024), 5):
        learnt = np.flatnonzero(row.targets >= 0)
        assert (row.targets[learnt] == row.tokens[learnt + 1]).all()
        assert (row.segments[learnt] == row.segments[learnt + 1]).all()


def test_a_users_line_is_never_learnt(byte_tokens: Tokens) -> None:
    scene = Scene("S", (Dialogue("odd", (Line("user", "on", learnt=True),)),))
    (row,) = rows([scene], byte_tokens, 512)
    assert row.learnt_tokens == 0


def test_several_short_scenes_share_a_row(byte_tokens: Tokens) -> None:
    (row,) = rows([Scene("S", (ON,)), Scene("T", (ON,))], byte_tokens, 512)
    assert said(row, byte_tokens, 3) == "<|im_start|>system\nT<|im_end|>\n"
    assert row.positions[row.segments == 3][0] == 0
    assert set(row.roots[row.segments == 4].tolist()) == {3}


def test_what_does_not_fit_is_left_out_and_counted(byte_tokens: Tokens) -> None:
    long = Dialogue("long", (Line("user", "x" * 400),))
    (row,) = rows([Scene("S", (long, ON))], byte_tokens, 256)
    assert (row.used, row.left_out) == (Counter(on=1), Counter(long=1))


def test_a_long_dialogue_finds_room_before_short_ones(byte_tokens: Tokens) -> None:
    (row,) = rows([Scene("S", (ON, ON, ON, AGAIN))], byte_tokens, 120)
    assert (row.used, row.left_out) == (Counter(again=1, on=1), Counter(on=2))


def test_a_scene_without_room_for_a_dialogue_leaves_no_system_prompt(byte_tokens: Tokens) -> None:
    (row,) = rows([Scene("y" * 300, (ON,)), Scene("S", (ON,))], byte_tokens, 256)
    assert said(row, byte_tokens, 1) == "<|im_start|>system\nS<|im_end|>\n"
    assert (row.used, row.left_out) == (Counter(on=1), Counter(on=1))


@pytest.mark.parametrize("row_tokens", [512, 2048])
def test_rows_have_one_length_and_are_mostly_full(byte_tokens: Tokens, row_tokens: int) -> None:
    made = list(itertools.islice(rows(scenes(2), byte_tokens, row_tokens), 20))
    assert {len(row.tokens) for row in made} == {row_tokens}
    assert sum(row.filled_tokens for row in made) > 0.8 * 20 * row_tokens


_SAYINGS = (
    '[turn_on(area="kitchen", domain="light")]',
    '[light_set(name="Anna\'s desk lamp", brightness=40), media_pause()]',
    '[respond(message="I can\'t: it\'s 20.5 °C outside — isn\'t that \\"warm\\"?")]',
    "set_position(name?, domain?: cover|valve, position: 0..100 (0 closed, 100 open)): Set how far",
    '(The tools have run: get_price gave {"price": 12.3}. Now answer my last request in one sentence.)',
    "Home:\n  kitchen: oven (switch), window (binary_sensor, window)\n\n  café  über 1,234,567 m² ½ 中文 😀",
)


@pytest.fixture(scope="module")
def smollm2_tokens(smollm2_path: Path) -> Tokens:
    return Tokens.from_gguf(smollm2_path)


@pytest.fixture(scope="module")
def vocabulary(smollm2_path: Path) -> Iterator[Vocabulary]:
    parameters = llama_cpp.llama_model_default_params()
    parameters.vocab_only = True
    model = llama_cpp.llama_model_load_from_file(str(smollm2_path).encode(), parameters)
    yield Vocabulary(model)
    llama_cpp.llama_model_free(model)


@pytest.mark.long
@pytest.mark.engine
def test_text_is_split_as_llama_cpp_does(smollm2_tokens: Tokens, vocabulary: Vocabulary) -> None:
    chance = random.Random(7)
    letters = "".join(_SAYINGS) + " \t\n'\"[](){}_0123456789\u00a0\u200b’…"
    texts = [*_SAYINGS, *("".join(chance.choices(letters, k=chance.randint(1, 60))) for _ in range(3000))]
    texts += [f"a{chr(code)}b" for code in range(0x2200)]
    different = [text for text in texts if smollm2_tokens.of(text) != vocabulary.tokenize(text, special=False)]
    assert different == []


@pytest.mark.engine
def test_a_conversation_is_written_as_the_product_writes_it(
    smollm2_path: Path, smollm2_tokens: Tokens, vocabulary: Vocabulary
) -> None:
    parameters = llama_cpp.llama_model_default_params()
    parameters.vocab_only = True
    model = llama_cpp.llama_model_load_from_file(str(smollm2_path).encode(), parameters)
    template = llama_cpp.llama_model_chat_template(model, None).decode()
    llama_cpp.llama_model_free(model)
    system, lines = (
        "Tools:\n" + _SAYINGS[3] + "\n\n" + _SAYINGS[5],
        (
            Line("user", "kitchen light on"),
            Line("assistant", _SAYINGS[0]),
            Line("user", _SAYINGS[4]),
            Line("assistant", "Twelve thirty."),
            Line("user", "never mind"),
        ),
    )
    messages = (Message("system", system), *(Message(line.role, line.text) for line in lines))
    writer = PromptWriter(ChatTemplate(template), vocabulary)
    assert smollm2_tokens.prompt(system, lines) == writer.write(messages, ChatRequest(messages)).tokens


@given(text=st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_text_survives_its_tokens(byte_tokens: Tokens, text: str) -> None:
    assert byte_tokens.text(byte_tokens.of(text)) == text


def test_no_text_becomes_a_control_token(byte_tokens: Tokens) -> None:
    assert byte_tokens.end not in byte_tokens.of("bye<|im_end|>")


def test_what_is_said_includes_its_end(byte_tokens: Tokens) -> None:
    message = byte_tokens.message("assistant", "yes")
    assert byte_tokens.text(message.tokens) == "<|im_start|>assistant\nyes<|im_end|>\n"
    assert byte_tokens.text(message.tokens[message.said_from : message.said_to]) == "yes<|im_end|>"


def test_a_message_that_would_grow_together_with_its_head_is_refused(byte_tokens: Tokens) -> None:
    with pytest.raises(ValueError, match="white space"):
        byte_tokens.message("assistant", "\nyes")


def test_tokens_can_be_sent_to_another_process(byte_tokens: Tokens) -> None:
    assert Tokens(byte_tokens.description).of("two t") == byte_tokens.of("two t")


def test_another_kind_of_vocabulary_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="splits text as none"):
        Tokens.from_gguf(write_adapter(tmp_path / "adapter.gguf"))


LITTLE = "tests.training.little_scenes:scenes"


def workers(tokens: Tokens, generator: str = LITTLE, *, processes: int, longest_row_s: float = 60.0) -> RowWorkers:
    return RowWorkers(
        generator, tokens, seed=3, rows_a_step=3, row_tokens=512, processes=processes, longest_row_s=longest_row_s
    )


def broken_scenes(seed: int) -> Iterator[Scene]:
    yield from itertools.islice(scenes(seed), 20)
    raise ValueError("no more")


def endless_scenes(seed: int) -> Iterator[Scene]:
    yield from itertools.islice(scenes(seed), 20)
    threading.Event().wait()


@pytest.mark.parametrize("processes", [1, 2])
def test_a_steps_rows_do_not_depend_on_the_number_of_processes(byte_tokens: Tokens, processes: int) -> None:
    streams = [rows(scenes(3000 + number), byte_tokens, 512) for number in range(3)]
    with workers(byte_tokens, processes=processes) as made:
        for _ in range(4):
            expected = [next(stream).tokens.tolist() for stream in streams]
            assert [row.tokens.tolist() for row in made.next_step()] == expected


def test_a_generator_that_fails_ends_the_training(byte_tokens: Tokens) -> None:
    broken = "tests.training.test_data_loader:broken_scenes"
    with workers(byte_tokens, broken, processes=1) as made:
        steps = iter(made.next_step, [])
        with pytest.raises(EngineFailed, match="has died"):
            list(itertools.islice(steps, 1000))


def test_a_generator_that_does_not_come_to_an_end_says_where_it_is(
    byte_tokens: Tokens, capfd: pytest.CaptureFixture[str]
) -> None:
    endless = "tests.training.test_data_loader:endless_scenes"
    with workers(byte_tokens, endless, processes=1, longest_row_s=1.0) as made:
        steps = iter(made.next_step, [])
        with pytest.raises(EngineFailed, match="has died"):
            list(itertools.islice(steps, 1000))
    assert "endless_scenes" in capfd.readouterr().err


def test_a_generator_is_found_by_its_name() -> None:
    assert next(load_generator(LITTLE)(5)) == next(scenes(5))
