"""Constrained decoding with a real vocabulary and KV cache, and a scripted sampler."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NoReturn, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from edgevox.core.errors import GrammarRejected
from edgevox.core.turn import CancelFlag
from edgevox.llm.context import LlamaContext
from edgevox.llm.generation import Generation, ReplyConstraint
from edgevox.llm.grammars import CallGrammar, build_call_grammar
from edgevox.llm.prefix_cache import SEQUENCES, PrefixCache
from edgevox.llm.sampling import Candidates, Constrainer, Sampler
from edgevox.llm.tool_parsers.base import STYLES

pytestmark = pytest.mark.engine

TOOLS = [
    {
        "name": "light",
        "parameters": {"type": "object", "properties": {"room": {"enum": ["hall", "kitchen"]}}, "required": ["room"]},
    }
]
GRAMMAR = build_call_grammar(TOOLS, wire_format="hermes")
AT_TRIGGER = ReplyConstraint(GRAMMAR, "at_trigger")
AT_ONCE = ReplyConstraint(GRAMMAR, "at_once")


class ScriptedSampler:
    """Picks the tokens of a script; where the grammar forbids one, the best of the others, and goes on."""

    def __init__(self, tokens: list[int], end: int) -> None:
        self._tokens = iter([*tokens, *[end] * 200])
        self.size = len(tokens)

    def pick(self, logits: NDArray[np.float32], among: NDArray[np.intp] | None = None) -> int:
        if among is not None:
            return int(among[np.argmax(logits[among])])
        return next(self._tokens)

    def accept(self, token: int) -> None:
        """No penalty to keep."""

    def close(self) -> None:
        """Nothing to free."""


class Bench:
    def __init__(self, model: Path) -> None:
        self.context = LlamaContext(model, context_tokens=512, threads=1, prompt_threads=2, sequences=SEQUENCES)
        self.vocabulary = self.context.vocabulary
        self.cache = PrefixCache(self.context)
        self.prompt = self.vocabulary.tokenize("User: Light in the hall!\nAssistant: ", special=True)
        self.evaluated: list[int] = []

    def write(
        self,
        script: str | list[str],
        constraint: ReplyConstraint | None = None,
        *,
        engine: str = "llguidance",
        stop: tuple[str, ...] = (),
        reasoning: str = "",
        limit: int = 120,
    ) -> list[str]:
        """The pieces of a reply whose model wants to write `script`; as a list, in tokens of that text."""
        pieces = [script] if isinstance(script, str) else script
        tokens = [token for piece in pieces for token in self.vocabulary.tokenize(piece, special=True)]
        sequence, _ = self.cache.begin("", self.prompt, 0)
        candidates = Candidates(self.vocabulary.size)
        generation = Generation(
            self.prompt,
            sequence=sequence,
            cache=self.cache,
            context=self.context,
            sampler=cast("Sampler", ScriptedSampler(tokens, self.vocabulary.eos)),
            constrainer=Constrainer(
                self.vocabulary, candidates, "llguidance" if engine == "llguidance" else "llama.cpp"
            ),
            constraint=constraint,
            stop=stop,
            reasoning=reasoning,
            limit_tokens=limit,
            cancel=CancelFlag(),
        )
        written = list(generation.pieces())
        self.evaluated = sequence.tokens[len(self.prompt) :]
        self.generated = generation.generated
        generation.close()
        return written

    def remembered(self) -> str:
        """What the model has evaluated of its own reply, as text."""
        return b"".join(map(self.vocabulary.piece, self.evaluated)).decode(errors="replace")


@pytest.fixture(scope="module")
def bench(shallow_path: Path) -> Iterator[Bench]:
    bench = Bench(shallow_path)
    yield bench
    bench.context.close()


def test_a_grammar_that_is_rejected_leaves_no_sampler_behind(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def reject(_constrainer: Constrainer, _grammar: CallGrammar) -> NoReturn:
        raise GrammarRejected("too complex", hint="simplify it")

    closed: list[ScriptedSampler] = []
    monkeypatch.setattr(Constrainer, "start", reject)
    monkeypatch.setattr(ScriptedSampler, "close", lambda sampler: closed.append(sampler))
    with pytest.raises(GrammarRejected):
        bench.write("", AT_ONCE)
    assert len(closed) == 1


def call_in(text: str) -> object:
    """The call in a reply that holds exactly one."""
    before, _, rest = text.partition("<tool_call>")
    body, _, after = rest.partition("</tool_call>")
    assert not after.strip()
    assert "<tool_call>" not in before + body
    return json.loads(body)


@pytest.mark.parametrize("engine", ["llguidance", "llama.cpp"])
def test_a_call_in_free_text_is_constrained(bench: Bench, engine: str) -> None:
    text = "".join(bench.write('Sure. <tool_call>{"nonsense', AT_TRIGGER, engine=engine))
    assert text.startswith("Sure. ")
    call = call_in(text)
    assert isinstance(call, dict)
    assert call["name"] == "light"
    assert call["arguments"]["room"] in ("hall", "kitchen")


@pytest.mark.parametrize("engine", ["llguidance", "llama.cpp"])
def test_a_marker_that_comes_in_any_pieces_is_seen(bench: Bench, engine: str) -> None:
    for pieces in (["<", "tool", "_", "call", ">"], ["x", "<tool_ca", "ll>", "{"], ["<tool_call>", "\n"]):
        assert isinstance(call_in("".join(bench.write(pieces, AT_TRIGGER, engine=engine))), dict)


def test_the_kv_cache_holds_exactly_the_shown_text(bench: Bench) -> None:
    for script in ("Sure. <tool_call>oops", "<tool_call>\n{", "no call at all"):
        shown = "".join(bench.write(script, AT_TRIGGER))
        # The last token is shown before it is evaluated, and need not be.
        assert shown.startswith(bench.remembered()[:-1])
        assert len(shown) - len(bench.remembered()) < 30


def test_a_marker_in_reasoning_starts_no_call(bench: Bench) -> None:
    shown = "".join(bench.write("<think>a <tool_call> would do</think>Done.", AT_TRIGGER))
    assert shown == "<think>a <tool_call> would do</think>Done."


def test_a_call_after_reasoning_is_constrained(bench: Bench) -> None:
    shown = "".join(bench.write("<think>so</think><tool_call>oops", AT_TRIGGER))
    assert isinstance(call_in(shown.partition("</think>")[2]), dict)


def test_a_required_call_waits_for_the_end_of_the_reasoning(bench: Bench) -> None:
    shown = "".join(bench.write("the hall</think>\n\nSure thing", AT_ONCE, reasoning="<think>"))
    thoughts, _, rest = shown.partition("</think>")
    assert thoughts == "the hall"
    assert isinstance(call_in(rest), dict)


@pytest.mark.parametrize("tag", [begin.rstrip() for style in STYLES for begin in style.begins])
def test_reasoning_in_any_familys_tags_comes_before_a_required_call(bench: Bench, tag: str) -> None:
    shown = "".join(bench.write("the hall, I think", AT_ONCE, reasoning=tag))
    assert shown.startswith("the hall, I think")
    assert isinstance(call_in(shown[shown.index("<tool_call>") :]), dict)


def test_endless_reasoning_is_ended(bench: Bench) -> None:
    shown = "".join(bench.write("and so on " * 100, AT_ONCE, reasoning="<think>", limit=120))
    assert isinstance(call_in(shown.partition("</think>")[2]), dict)
    thoughts, tag, answer = "".join(bench.write("and so on " * 100, reasoning="<think>", limit=60)).partition(
        "</think>"
    )
    assert tag
    assert "and so on" in answer
    assert len(answer) > len(thoughts) // 3


def test_a_reply_that_ends_in_reasoning_still_gets_the_required_call(bench: Bench) -> None:
    shown = "".join(bench.write("the hall, I think", AT_ONCE, reasoning="<think>"))
    thoughts, _, rest = shown.partition("</think>")
    assert thoughts.strip() == "the hall, I think"
    assert isinstance(call_in(rest), dict)


def test_without_cutting_the_call_is_left_as_written(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.context, "can_cut", False)
    # The space and the bracket are one token, which would have to be written anew.
    shown = "".join(bench.write("Sure <tool_call>oops", AT_TRIGGER))
    assert shown == "Sure <tool_call>oops"


def test_forced_text_takes_no_picking(bench: Bench) -> None:
    one = replace(GRAMMAR, lark='start: "<tool_call>yes, and nothing else</tool_call>"')
    assert "".join(bench.write("", ReplyConstraint(one, "at_once"))) == "<tool_call>yes, and nothing else</tool_call>"
    assert bench.evaluated == []


def test_a_stop_string_ends_the_reply_and_is_not_shown(bench: Bench) -> None:
    assert "".join(bench.write("One.\nUser: two", stop=("\nUser:",))) == "One."


def test_a_stop_string_inside_a_call_is_part_of_it(bench: Bench) -> None:
    assert isinstance(call_in("".join(bench.write("", AT_ONCE, stop=("light", "{")))), dict)


@pytest.mark.parametrize("text", ["äöü €uro", "日本語 テスト", "👩‍👩‍👧 ok 🇩🇪", "a\u0301b"])
def test_no_piece_holds_half_a_character(bench: Bench, text: str) -> None:
    pieces = bench.write(text)
    assert "".join(pieces) == text
    assert all("\ufffd" not in piece for piece in pieces)


def test_the_limit_counts_forced_tokens_too(bench: Bench) -> None:
    bench.write("", AT_ONCE, limit=5)
    assert bench.generated == 5


def test_a_grammar_without_an_engine_falls_back_to_the_other(bench: Bench) -> None:
    broken = CallGrammar(GRAMMAR.gbnf, "start: (((", GRAMMAR.triggers, ())
    assert isinstance(call_in("".join(bench.write("", ReplyConstraint(broken, "at_once")))), dict)
