"""Quick scores on a GPU: the greedy answers of a model with an adapter, beside what is expected.

`python -m training.llm.score --base MODEL.gguf --adapter ADAPTER.gguf --rows ROWS.jsonl --out ANSWERS.jsonl`.
A row is `{"id": …, "system": …, "user": …, "expect": …}`; in the place of `user` there may be
`"lines": [[role, text], …]`. No grammar holds the model here: the product does, and may do better.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from edgevox.core.errors import ConfigError, EdgevoxError
from training.llm.adapters import read_adapter
from training.llm.data_loader import Tokens
from training.llm.llama import Llama, Memory
from training.types import Line


@dataclass(frozen=True, slots=True)
class Question:
    """One row of the file."""

    id: str
    system: str
    lines: tuple[Line, ...]
    expect: str


def read_questions(path: Path) -> list[Question]:
    """The rows of a file. Raises ConfigError where one is not as it should be."""
    questions: list[Question] = []
    for number, text in enumerate(path.read_text().splitlines(), start=1):
        try:
            row = json.loads(text)
            said = row["lines"] if "lines" in row else [["user", row["user"]]]
            lines = tuple(Line(role, words) for role, words in said)
            questions.append(Question(str(row["id"]), row["system"], lines, row["expect"]))
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigError(
                f"{path}, line {number} is no row: {error}", hint="a row has id, system, user or lines, expect"
            ) from error
    return questions


def answer(model: Llama, prompts: Sequence[Sequence[int]], end: int, most_tokens: int) -> list[list[int]]:
    """What the model says after each prompt, the likeliest token each time, without its end."""
    device = model.embedding.device
    longest = max(map(len, prompts))
    # Padded on the left, so that all rows go on in the same column.
    tokens = torch.zeros(len(prompts), longest, dtype=torch.int64, device=device)
    exists = torch.zeros(len(prompts), longest + most_tokens, dtype=torch.bool, device=device)
    for row, prompt in enumerate(prompts):
        tokens[row, longest - len(prompt) :] = torch.tensor(prompt, device=device)
        exists[row, longest - len(prompt) :] = True
    positions = (exists.cumsum(1) - 1).clamp(min=0)
    room = longest + most_tokens
    memory = [Memory(model.shape, len(prompts), room, model.embedding) for _ in model.blocks]
    said: list[Tensor] = []
    ended = torch.zeros(len(prompts), dtype=torch.bool, device=device)
    columns = torch.arange(room, device=device)
    seen = 0
    while len(said) < most_tokens and not bool(ended.all()):
        queries = columns[seen : seen + tokens.shape[1], None]
        seen += tokens.shape[1]
        # A padding token sees itself: a row of the mask that is all false gives no number.
        keys = columns[None, :seen]
        mask = (exists[:, None, None, :seen] & (keys <= queries)) | (keys == queries)
        known = model(tokens, positions[:, seen - tokens.shape[1] : seen], mask, memory)
        tokens = model.logits(known[:, -1]).argmax(-1, keepdim=True)
        ended = ended | (tokens[:, 0] == end)
        said.append(tokens[:, 0])
    rows: list[list[int]] = torch.stack(said, dim=1).tolist()
    return [row[: row.index(end)] if end in row else row for row in rows]


def answers(
    model: Llama, tokens: Tokens, questions: Sequence[Question], *, batch_rows: int, most_tokens: int
) -> Iterator[tuple[Question, str]]:
    """Each question with its answer, short prompts first."""
    prompts = [(tokens.prompt(question.system, question.lines), question) for question in questions]
    prompts.sort(key=lambda prompt: len(prompt[0]))
    for begin in range(0, len(prompts), batch_rows):
        batch = prompts[begin : begin + batch_rows]
        with torch.inference_mode():
            said = answer(model, [prompt for prompt, _ in batch], tokens.end, most_tokens)
        for (_, question), words in zip(batch, said, strict=True):
            yield question, tokens.text(words)


def _score(arguments: argparse.Namespace) -> None:
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    # float32, as bfloat16 cannot tell two likely words apart: its logits are rounded to eighths.
    model = Llama.from_gguf(arguments.base, dtype=torch.float32, device=device)
    if arguments.adapter is not None:
        read_adapter(arguments.adapter, model)
    tokens = Tokens.from_gguf(arguments.base)
    questions = read_questions(arguments.rows)
    right = done = 0
    with arguments.out.open("w") as out:
        for question, said in answers(
            model, tokens, questions, batch_rows=arguments.batch_rows, most_tokens=arguments.most_tokens
        ):
            exact = said == question.expect
            right, done = right + exact, done + 1
            row = {"id": question.id, "said": said, "expect": question.expect, "exact": exact}
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
    print(f"{right} of {done} exact: {right / max(1, done):.1%}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.llm.score", description=__doc__)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--adapter", type=Path)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, help="a file for the answers")
    parser.add_argument("--batch-rows", type=int, default=64)
    parser.add_argument("--most-tokens", type=int, default=64)
    try:
        _score(parser.parse_args())
    except EdgevoxError as error:
        raise SystemExit(f"{error}\n  → {error.hint}") from error


if __name__ == "__main__":
    main()
