"""What is trained is token for token what llama.cpp and the product's prompts make of the same text."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import llama_cpp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgevox.errors import ModelError
from edgevox.llm.native.vocabulary import Vocabulary
from edgevox.llm.prompt_writer import PromptWriter
from edgevox.llm.templates import ChatTemplate
from edgevox.types import ChatRequest, Message
from tests.llm.lora_files import write_adapter
from training.scene import Line
from training.tokens import Tokens

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
    different = [
        text for text in texts if smollm2_tokens.of(text) != vocabulary.tokenize(text, special=False)
    ]
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
