"""Answers in batches are the answers one by one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from edgevox.core.errors import ConfigError
from tests.training.logits import our_logits
from training.llm.data_loader import Tokens
from training.llm.llama import Llama
from training.llm.score import Question, answers, read_questions
from training.types import Line


def test_batched_answers_are_those_of_single_steps(tiny_llama: Path, byte_tokens: Tokens) -> None:
    model = Llama.from_gguf(tiny_llama, dtype=torch.float32, device=torch.device("cpu"))
    questions = [
        Question(str(number), "Tools: on()" * number, (Line("user", "light " + "on " * number),), "")
        for number in range(1, 6)
    ]
    batched = answers(model, byte_tokens, questions, batch_rows=3, most_tokens=6)
    for question, said in batched:
        prompt = byte_tokens.prompt(question.system, question.lines)
        alone: list[int] = []
        while len(alone) < 6 and byte_tokens.end not in alone:
            alone.append(int(our_logits(model, [*prompt, *alone]).argmax()))
        assert said == byte_tokens.text(token for token in alone if token != byte_tokens.end)


def test_rows_are_single_requests_or_conversations(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    single = {"id": 1, "system": "S", "user": "on", "expect": "[on()]"}
    longer = {"id": "b", "system": "S", "lines": [["user", "on"], ["assistant", "x"]], "expect": "y"}
    path.write_text(f"{json.dumps(single)}\n{json.dumps(longer)}\n")
    assert read_questions(path) == [
        Question("1", "S", (Line("user", "on"),), "[on()]"),
        Question("b", "S", (Line("user", "on"), Line("assistant", "x")), "y"),
    ]


def test_a_row_without_an_expectation_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": 1, "system": "S", "user": "on"}\n')
    with pytest.raises(ConfigError, match="line 1"):
        read_questions(path)
