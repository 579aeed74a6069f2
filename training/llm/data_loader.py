"""Tokenizes scenes, packs them into rows and prepares the rows in worker processes.

A row is filled with scene after scene: the system prompt once, its dialogues behind it. Every dialogue
continues the positions of its system prompt and attends to nothing else in the row. Dialogues that do not
fit are dropped and counted. The tokens must be exactly those that the product evaluates
(edgevox.llm.prompt_writer).

Row i of every step comes from stream i, the scenes of seed `seed * 1000 + i`, so the rows of a step depend
on the seed and the step alone, not on the number of processes. The processes are spawned, never forked, and
never import PyTorch.

`python -m training.llm.data_loader --base MODEL.gguf` reports how the scenes fill the rows and how fast
they are made.
"""

from __future__ import annotations

import argparse
import faulthandler
import importlib
import itertools
import multiprocessing
import queue
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.queues import Queue
from pathlib import Path
from types import TracebackType
from typing import TypeAlias

import numpy as np
from gguf import GGUFReader
from numpy.typing import NDArray
from tokenizers import Regex, Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel, Split
from tokenizers.pre_tokenizers import Sequence as InTurn

from edgevox.core.errors import EngineFailed, ModelError
from training.types import Dialogue, Line, Scene

_BEGIN, _END = "<|im_start|>", "<|im_end|>"
_PRE_TOKENIZER = "smollm"


@dataclass(frozen=True, slots=True)
class WrittenLine:
    """One message as tokens. What is said, its end included, is `tokens[said_from:said_to]`."""

    tokens: list[int]
    said_from: int
    said_to: int


class Tokens:
    """Text to tokens and back, and messages as ChatML. No text ever becomes a control token."""

    def __init__(self, description: str) -> None:
        """`description` is what another `Tokens` gives: it can be sent to a process that has no GGUF."""
        self.description = description
        self._tokenizer = Tokenizer.from_str(description)
        self.begin, self.end = self._control(_BEGIN), self._control(_END)
        (self._newline,) = self.of("\n")

    @classmethod
    def from_gguf(cls, path: Path) -> Tokens:
        """The vocabulary of that model. Raises ModelError when it is not one of SmolLM's kind."""
        fields = GGUFReader(path).fields
        kind = fields["tokenizer.ggml.pre"].contents() if "tokenizer.ggml.pre" in fields else "none"
        if kind != _PRE_TOKENIZER:
            raise ModelError(
                f"{path.name} splits text as {kind}, only {_PRE_TOKENIZER} is known here",
                hint="train on a GGUF of SmolLM2",
            )
        words: list[str] = fields["tokenizer.ggml.tokens"].contents()
        merges: list[str] = fields["tokenizer.ggml.merges"].contents()
        pairs = [(left, right) for left, _, right in (merge.partition(" ") for merge in merges)]
        tokenizer = Tokenizer(BPE({word: token for token, word in enumerate(words)}, pairs))
        # Digits one by one, then GPT-2's words: LLAMA_VOCAB_PRE_TYPE_SMOLLM of llama.cpp.
        tokenizer.pre_tokenizer = InTurn([Split(Regex(r"\p{N}"), "isolated"), ByteLevel(False, False, True)])
        tokenizer.decoder = ByteLevelDecoder()
        return cls(tokenizer.to_str())

    def of(self, text: str) -> list[int]:
        """The tokens of plain text."""
        tokens: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return tokens

    def text(self, tokens: Iterable[int]) -> str:
        """What the tokens say; control tokens are written out."""
        text: str = self._tokenizer.decode(list(tokens), skip_special_tokens=False)
        return text

    def message(self, role: str, text: str) -> WrittenLine:
        """A whole message. Raises ValueError where the text begins with white space.

        Such a text would grow together with the line break before it when it is read as history, but not
        when the model writes it.
        """
        if text[:1].isspace():
            raise ValueError(f"a message must not begin with white space: {text[:40]!r}")
        head = self._head(role)
        tokens = [*head, *self.of(text), self.end, self._newline]
        return WrittenLine(tokens, len(head), len(tokens) - 1)

    def prompt(self, system: str, lines: Sequence[Line]) -> list[int]:
        """The conversation up to where the assistant begins to speak."""
        tokens = list(self.message("system", system).tokens)
        for line in lines:
            tokens += self.message(line.role, line.text).tokens
        return tokens + self._head("assistant")

    def _control(self, text: str) -> int:
        token = self._tokenizer.token_to_id(text)
        if token is None:
            raise ModelError(f"the vocabulary has no {text}", hint="train on a GGUF of SmolLM2")
        return token

    def _head(self, role: str) -> list[int]:
        return [self.begin, *self.of(f"{role}\n")]


_NO_SCENE = 0


@dataclass(frozen=True, slots=True)
class Row:
    """Arrays of one length. A token sees its segment and its root, up to itself; segment 0 is padding.

    `targets` is the token to be said next, -1 where nothing is learnt. `used` counts dialogues by category,
    `left_out` those of its scenes that found no room.
    """

    tokens: NDArray[np.int32]
    positions: NDArray[np.int32]
    segments: NDArray[np.int32]
    roots: NDArray[np.int32]
    targets: NDArray[np.int32]
    used: Counter[str]
    left_out: Counter[str]

    @property
    def filled_tokens(self) -> int:
        return int(np.count_nonzero(self.segments))

    @property
    def learnt_tokens(self) -> int:
        return int(np.count_nonzero(self.targets >= 0))


def rows(scenes: Iterable[Scene], tokens: Tokens, row_tokens: int) -> Iterator[Row]:
    """The scenes in rows of `row_tokens`, as many as fit in each, in their order."""
    row = _OpenRow(row_tokens)
    for scene in scenes:
        written = _WrittenScene.write(scene, tokens)
        if row.segments and not row.has_room_for(written):
            yield row.close()
            row = _OpenRow(row_tokens)
        row.add(written)
    if row.segments:
        yield row.close()


@dataclass(frozen=True, slots=True)
class _WrittenDialogue:
    """`learnt` says of each token whether the model is to say it by itself."""

    category: str
    tokens: list[int]
    learnt: list[bool]

    @classmethod
    def write(cls, dialogue: Dialogue, tokens: Tokens) -> _WrittenDialogue:
        said: list[int] = []
        learnt: list[bool] = []
        for line in dialogue.lines:
            message = tokens.message(line.role, line.text)
            counts = line.learnt and line.role == "assistant"
            said += message.tokens
            learnt += [counts and message.said_from <= at < message.said_to for at in range(len(message.tokens))]
        return cls(dialogue.category, said, learnt)


@dataclass(frozen=True, slots=True)
class _WrittenScene:
    system: list[int]
    dialogues: list[_WrittenDialogue]

    @classmethod
    def write(cls, scene: Scene, tokens: Tokens) -> _WrittenScene:
        dialogues = [_WrittenDialogue.write(dialogue, tokens) for dialogue in scene.dialogues]
        return cls(tokens.message("system", scene.system).tokens, dialogues)

    @property
    def dialogue_tokens(self) -> int:
        return sum(len(dialogue.tokens) for dialogue in self.dialogues)


@dataclass(slots=True)
class _OpenRow:
    length: int
    tokens: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    segment_of: list[int] = field(default_factory=list)
    root_of: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    segments: int = 0
    used: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)

    def has_room_for(self, scene: _WrittenScene) -> bool:
        """Whether its system prompt would pay: half of its dialogues must fit behind it."""
        return self._room >= len(scene.system) + scene.dialogue_tokens / 2

    def add(self, scene: _WrittenScene) -> None:
        """Add what fits, long dialogues first: they are the rare ones.

        A scene of which no dialogue fits leaves no system prompt behind.
        """
        room = self._room - len(scene.system)
        fitting: list[_WrittenDialogue] = []
        for dialogue in sorted(scene.dialogues, key=lambda dialogue: len(dialogue.tokens), reverse=True):
            if len(dialogue.tokens) <= room:
                room -= len(dialogue.tokens)
                fitting.append(dialogue)
                self.used[dialogue.category] += 1
            else:
                self.left_out[dialogue.category] += 1
        if not fitting:
            return
        self.segments += 1
        root = self.segments
        self._append(scene.system, [False] * len(scene.system), root, begin=0)
        for dialogue in fitting:
            self.segments += 1
            self._append(dialogue.tokens, dialogue.learnt, root, begin=len(scene.system))

    def close(self) -> Row:
        def padded(numbers: list[int], filler: int) -> NDArray[np.int32]:
            row = np.full(self.length, filler, dtype=np.int32)
            row[: len(numbers)] = numbers
            return row

        return Row(
            tokens=padded(self.tokens, 0),
            positions=padded(self.positions, 0),
            segments=padded(self.segment_of, _NO_SCENE),
            roots=padded(self.root_of, _NO_SCENE),
            targets=padded(self.targets, -1),
            used=self.used,
            left_out=self.left_out,
        )

    @property
    def _room(self) -> int:
        return self.length - len(self.tokens)

    def _append(self, tokens: list[int], learnt: list[bool], root: int, *, begin: int) -> None:
        self.tokens += tokens
        self.positions += range(begin, begin + len(tokens))
        self.segment_of += [self.segments] * len(tokens)
        self.root_of += [root] * len(tokens)
        following = zip(tokens[1:], learnt[1:], strict=True)
        self.targets += [token if counts else -1 for token, counts in following] + [-1]


Generator: TypeAlias = Callable[[int], Iterator[Scene]]

_STREAMS_A_SEED = 1000
_STEPS_AHEAD = 8
_LOOK_EVERY_S = 1.0
# A row takes some hundredths of a second. A generator that draws again without end costs a GPU's whole time.
_LONGEST_ROW_S = 60.0


class RowWorkers:
    """Gives the rows of one step after the other. To be used as a context: it ends the processes."""

    def __init__(
        self,
        generator: str,
        tokens: Tokens,
        *,
        seed: int,
        rows_a_step: int,
        row_tokens: int,
        processes: int,
        longest_row_s: float = _LONGEST_ROW_S,
    ) -> None:
        """`generator` is `module:function`, a function of a seed that yields scenes without end.

        A process that needs longer than `longest_row_s` for a row says where it is, and ends.
        """
        context = multiprocessing.get_context("spawn")
        self._rows_a_step = rows_a_step
        processes = min(processes, rows_a_step)
        self._queues: list[Queue[Row]] = []
        self._processes = []
        for worker in range(processes):
            streams = range(worker, rows_a_step, processes)
            made: Queue[Row] = context.Queue(maxsize=_STEPS_AHEAD * len(streams))
            seeds = [seed * _STREAMS_A_SEED + stream for stream in streams]
            process = context.Process(
                target=_work, args=(made, generator, tokens.description, seeds, row_tokens, longest_row_s), daemon=True
            )
            self._queues.append(made)
            self._processes.append(process)

    def __enter__(self) -> RowWorkers:
        for process in self._processes:
            process.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.join()

    def next_step(self) -> list[Row]:
        """The rows of the next step, in the order of their streams. Raises EngineFailed."""
        return [self._next_row(stream % len(self._queues)) for stream in range(self._rows_a_step)]

    def _next_row(self, worker: int) -> Row:
        while True:
            try:
                return self._queues[worker].get(timeout=_LOOK_EVERY_S)
            except queue.Empty:
                if not self._processes[worker].is_alive():
                    raise EngineFailed(
                        "a process that makes training rows has died", hint="its error stands above"
                    ) from None


def load_generator(name: str) -> Generator:
    """The function that `module:function` names."""
    module, _, function = name.partition(":")
    found: Generator = getattr(importlib.import_module(module), function)
    return found


def _work(
    made: Queue[Row], generator: str, description: str, seeds: list[int], row_tokens: int, longest_row_s: float
) -> None:
    tokens = Tokens(description)
    scenes = load_generator(generator)
    streams = [rows(scenes(seed), tokens, row_tokens) for seed in seeds]
    for stream in itertools.cycle(streams):
        faulthandler.dump_traceback_later(longest_row_s, exit=True)
        row = next(stream)
        faulthandler.cancel_dump_traceback_later()
        made.put(row)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.llm.data_loader", description=__doc__)
    parser.add_argument("--base", type=Path, required=True, help="the GGUF whose vocabulary it is")
    parser.add_argument("--scenes", default="training.scenes:scenes", help="module:function of the examples")
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--row-tokens", type=int, default=2048)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    tokens = Tokens.from_gguf(arguments.base)
    scenes = load_generator(arguments.scenes)(arguments.seed)
    begun_s = time.monotonic()
    made = list(itertools.islice(rows(scenes, tokens, arguments.row_tokens), arguments.rows))
    _print(made, arguments.row_tokens, time.monotonic() - begun_s)


def _print(made: list[Row], row_tokens: int, took_s: float) -> None:
    used: Counter[str] = sum((row.used for row in made), Counter())
    left_out: Counter[str] = sum((row.left_out for row in made), Counter())
    learnt, filled = (sum(getattr(row, name) for row in made) for name in ("learnt_tokens", "filled_tokens"))
    print(f"{len(made)} rows in {took_s:.1f} s: {used.total() / took_s:.0f} examples a second in one process")
    print(f"{used.total() / len(made):.1f} examples a row, {left_out.total()} left out")
    print(f"rows are {filled / len(made) / row_tokens:.0%} full, {learnt / filled:.0%} of that is learnt")
    for category in sorted(used | left_out):
        print(f"  {category:32} {used[category]:6d}   left out {left_out[category]:5d}")


if __name__ == "__main__":
    main()
