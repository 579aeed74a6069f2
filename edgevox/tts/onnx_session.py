"""Sessions of onnxruntime for a program that shares its machine: few threads, little memory, can be stopped.

Importing this brings onnxruntime in, so only the process that speaks does.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import onnxruntime  # type: ignore[import-untyped]  # it ships no types
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state as native  # type: ignore[import-untyped]  # likewise

from edgevox.platform_support import file_of
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


class RunStopped(Exception):
    """A run was ended by its flag."""


class StopSwitch:
    """Ends the runs of the sessions that share it, while `thrown_by` is entered and its flag is set.

    The flag is a byte that another process sets, so it can only be watched. onnxruntime then ends the run
    between two nodes of the graph, within a millisecond.
    """

    def __init__(self) -> None:
        self.options = _run_options()

    @contextmanager
    def thrown_by(self, cancel: CancelFlag) -> Iterator[None]:
        options = self.options = _run_options()
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


class StoppableSession:
    """A model, from its file or from the pieces of one."""

    def __init__(self, model: Path | Sequence[memoryview], *, threads: int, switch: StopSwitch) -> None:
        onnxruntime.set_default_logger_severity(_ERRORS_ONLY)
        with _as_file(model) as path:
            self._session = onnxruntime.InferenceSession(
                path, _session_options(threads), providers=["CPUExecutionProvider"]
            )
        self._switch = switch

    def run(self, inputs: Mapping[str, Array]) -> list[Array]:
        """All outputs. Raises RunStopped or ONNX_ERRORS."""
        options = self._switch.options
        try:
            outputs: list[Array] = self._session.run(None, inputs, options)
        except native.Fail as err:
            if options.terminate:
                raise RunStopped from err
            raise
        return outputs


@contextmanager
def _as_file(model: Path | Sequence[memoryview]) -> Iterator[str]:
    """The name under which onnxruntime can open the model. Given bytes, it would keep them for good."""
    if isinstance(model, Path):
        yield str(model)
        return
    with file_of(model, "voice-part") as path:
        yield path


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
