"""Processes that make training rows while the GPU works.

Row i of every step comes from stream i, the scenes of seed `seed * 1000 + i`. So a step's rows depend on the
seed and the step alone, not on how many processes there are or how fast they run. The processes are spawned,
never forked, and know nothing of CUDA.
"""

from __future__ import annotations

import faulthandler
import importlib
import itertools
import multiprocessing
import queue
from collections.abc import Callable, Iterator
from multiprocessing.queues import Queue
from types import TracebackType
from typing import TypeAlias

from edgevox.errors import EngineFailed
from training.packing import Row, rows
from training.scene import Scene
from training.tokens import Tokens

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
                target=_work,
                args=(made, generator, tokens.description, seeds, row_tokens, longest_row_s),
                daemon=True,
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
    made: Queue[Row],
    generator: str,
    description: str,
    seeds: list[int],
    row_tokens: int,
    longest_row_s: float,
) -> None:
    tokens = Tokens(description)
    scenes = load_generator(generator)
    streams = [rows(scenes(seed), tokens, row_tokens) for seed in seeds]
    for stream in itertools.cycle(streams):
        faulthandler.dump_traceback_later(longest_row_s, exit=True)
        row = next(stream)
        faulthandler.cancel_dump_traceback_later()
        made.put(row)
