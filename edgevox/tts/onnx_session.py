"""A session of onnxruntime for a program that shares its machine: few threads, little memory, can be stopped.

Importing this brings onnxruntime in, so only the process that speaks does.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import onnxruntime  # type: ignore[import-untyped]  # it ships no types
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state as native  # type: ignore[import-untyped]  # likewise

from edgevox.turn import CancelFlag

Array: TypeAlias = NDArray[Any]

# They have no ancestor of their own but Exception.
ONNX_ERRORS: tuple[type[Exception], ...] = (
    native.EPFail,
    native.Fail,
    native.InvalidArgument,
    native.InvalidGraph,
    native.InvalidProtobuf,
    native.NoSuchFile,
    native.NotImplemented,
    native.RuntimeException,
)

_CANCEL_POLL_S = 0.01
_ERRORS_ONLY = 3


class StoppableSession:
    """What Piper calls of an onnxruntime session; while `stopped_by` is entered, a flag ends its run.

    The flag is a byte that another process sets, so it can only be watched. onnxruntime then ends the run
    between two nodes of the graph, within a millisecond.
    """

    def __init__(self, path: Path, *, threads: int) -> None:
        onnxruntime.set_default_logger_severity(_ERRORS_ONLY)
        self._session = onnxruntime.InferenceSession(
            str(path), _session_options(threads), providers=["CPUExecutionProvider"]
        )
        self._options = _run_options()

    @contextmanager
    def stopped_by(self, cancel: CancelFlag) -> Iterator[None]:
        options = self._options = _run_options()
        over = threading.Event()

        def watch() -> None:
            while not over.wait(_CANCEL_POLL_S):
                if cancel.is_set():
                    options.terminate = True
                    return

        watcher = threading.Thread(target=watch, name="onnx-cancel", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()

    def run(self, output_names: Sequence[str] | None, inputs: Mapping[str, Array]) -> list[Array]:
        """The outputs; one empty output when the run was stopped. Raises ONNX_ERRORS."""
        try:
            outputs: list[Array] = self._session.run(output_names, inputs, self._options)
        except native.Fail:
            if self._options.terminate:
                return [np.zeros(0, dtype=np.float32)]
            raise
        return outputs


def _session_options(threads: int) -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    # A waiting thread that spins takes its core from the other engines.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Planning the reuse of buffers is 2.4 s of a 3 s load, and no sentence is faster for it. The pattern plan
    # has to go with it: without reuse it holds 200 MB more.
    options.enable_mem_reuse = False
    options.enable_mem_pattern = False
    return options


def _run_options() -> onnxruntime.RunOptions:
    options = onnxruntime.RunOptions()
    options.log_severity_level = _ERRORS_ONLY
    # Otherwise the memory of the longest sentence ever spoken is kept for good.
    options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
    return options
