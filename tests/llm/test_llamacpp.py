from __future__ import annotations

import pickle
import threading
import time
from pathlib import Path

import pytest

from edgevox.errors import ContextOverflow, ModelError, ModelMissing
from edgevox.llm.llamacpp import LlamaEngine
from edgevox.turn import CancelFlag
from edgevox.types import ChatDelta, ChatDone, ChatReply, ChatRequest, Message, Sampling

GREEDY = Sampling(temperature=0.0, max_tokens=24)
SYSTEM = Message("system", "You are a helpful assistant. Answer in one short sentence.")
QUESTION = Message("user", "What is the capital of France?")


@pytest.fixture(scope="module")
def engine(smollm2_path: Path) -> LlamaEngine:
    engine = LlamaEngine(smollm2_path, context_tokens=512, threads=2)
    engine.load()
    return engine


def ask(engine: LlamaEngine, *messages: Message, stop: tuple[str, ...] = ()) -> tuple[str, ChatDone]:
    replies: list[ChatReply] = list(
        engine.run(ChatRequest(messages, sampling=GREEDY, stop=stop), CancelFlag())
    )
    done = replies[-1]
    assert isinstance(done, ChatDone)
    return "".join(reply.text for reply in replies if isinstance(reply, ChatDelta)), done


@pytest.mark.engine
def test_a_real_model_answers(engine: LlamaEngine) -> None:
    text, done = ask(engine, SYSTEM, QUESTION)
    assert "Paris" in text
    assert "<|im_end|>" not in text
    assert done.finish_reason == "stop"
    assert done.generated_tokens > 3


@pytest.mark.engine
def test_the_second_turn_evaluates_only_what_is_new(engine: LlamaEngine) -> None:
    text, first = ask(engine, SYSTEM, QUESTION)
    _, second = ask(engine, SYSTEM, QUESTION, Message("assistant", text), Message("user", "And of Italy?"))
    assert second.cached_tokens >= first.prompt_tokens
    assert second.prompt_tokens - second.cached_tokens < 30


@pytest.mark.engine
def test_reasoning_that_the_template_opens_is_marked_in_the_stream(smollm2_path: Path) -> None:
    opening = "{{ messages[-1].content }}\n<think>\n"
    thinker = LlamaEngine(smollm2_path, context_tokens=512, chat_template=opening)
    thinker.load()
    text, _ = ask(thinker, QUESTION)
    assert text.startswith("<think>")


@pytest.mark.engine
def test_a_stop_string_ends_the_reply(engine: LlamaEngine) -> None:
    text, done = ask(engine, SYSTEM, QUESTION, stop=("Paris",))
    assert "Paris" not in text
    assert done.finish_reason == "stop"


@pytest.mark.engine
def test_old_turns_make_room_and_the_system_prompt_stays(engine: LlamaEngine) -> None:
    chatter = [Message(role, "blah " * 60) for _ in range(6) for role in ("user", "assistant")]
    text, done = ask(engine, SYSTEM, *chatter, QUESTION)
    assert done.dropped_turns > 0
    assert done.prompt_tokens < 512
    assert text


@pytest.mark.engine
def test_a_question_that_cannot_fit_says_so(engine: LlamaEngine) -> None:
    with pytest.raises(ContextOverflow, match="512"):
        ask(engine, SYSTEM, Message("user", "blah " * 600))


@pytest.mark.engine
def test_a_cancel_reaches_into_the_prompt_and_the_next_answer_is_right(smollm2_path: Path) -> None:
    engine = LlamaEngine(smollm2_path, context_tokens=4096, threads=1, prompt_threads=1)
    engine.load()
    expected, _ = ask(engine, SYSTEM, QUESTION)
    cancel = CancelFlag()
    threading.Timer(0.3, cancel.set).start()
    started_s = time.monotonic()
    replies = list(engine.run(ChatRequest((Message("user", "word " * 3500),)), cancel))
    elapsed_s = time.monotonic() - started_s
    assert [r.finish_reason for r in replies if isinstance(r, ChatDone)] == ["cancelled"]
    assert not any(isinstance(r, ChatDelta) for r in replies)
    assert elapsed_s < 5  # the whole prompt takes far longer on one thread
    assert ask(engine, SYSTEM, QUESTION)[0] == expected


def test_a_missing_file_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing) as caught:
        LlamaEngine(tmp_path / "none.gguf").load()
    assert "edgevox models pull" in caught.value.hint


def test_a_file_that_is_no_model_is_refused_before_llama_sees_it(tmp_path: Path) -> None:
    file = tmp_path / "fake.gguf"
    file.write_bytes(b"<html>not found</html>")
    with pytest.raises(ModelError, match="not a GGUF"):
        LlamaEngine(file).load()


@pytest.mark.engine
def test_a_truncated_model_is_refused_with_a_message(tmp_path: Path, smollm2_path: Path) -> None:
    file = tmp_path / "cut.gguf"
    with smollm2_path.open("rb") as whole:
        file.write_bytes(whole.read(5_000_000))
    with pytest.raises(ModelError, match="cannot load"):
        LlamaEngine(file).load()


def test_an_engine_that_is_not_loaded_can_travel_to_a_child(tmp_path: Path) -> None:
    engine = LlamaEngine(tmp_path / "a.gguf", context_tokens=77)
    assert pickle.loads(pickle.dumps(engine)) == engine
