"""Rows for training: a scene's system prompt once, its dialogues side by side behind it.

A row is filled with scene after scene. Every dialogue continues its scene's system prompt, in its positions
too, and sees nothing else of the row. What does not fit into the row is left out, and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from training.scene import Dialogue, Scene
from training.tokens import Tokens

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
            learnt += [
                counts and message.said_from <= at < message.said_to for at in range(len(message.tokens))
            ]
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
