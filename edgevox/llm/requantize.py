"""Writing a GGUF model again with its weights in another type, by llama.cpp, in a child process.

`python -m edgevox.llm.requantize SOURCE TARGET TYPE THREADS` is that child: llama.cpp may abort its process.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import subprocess
import sys
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

from edgevox.errors import ModelError
from edgevox.llm.gguf_header import read_header

TargetType: TypeAlias = Literal["Q4_0", "Q8_0", "F16"]
TARGET_TYPES: tuple[TargetType, ...] = get_args(TargetType)

# llama_ftype of each type.
FILE_TYPES: Final[dict[str, int]] = {"F16": 1, "Q4_0": 2, "Q4_1": 3, "Q8_0": 7, "Q5_0": 8, "Q5_1": 9}
_TIMEOUT_S = 3600.0


def requantise(source: Path, target: Path, to: TargetType, *, threads: int) -> None:
    """Write `source` to `target`, with its weights in another type. Raises ModelError.

    Whatever goes wrong, no half target is left. It is not synced: that is for whoever names it finally.
    """
    try:
        _write(source, target, to, threads)
    except ModelError as error:
        target.unlink(missing_ok=True)
        raise ModelError(
            f"{source.name} could not be written as {to}: {error.message}",
            hint="the original still works; `edgevox models verify` checks it; is the disk full?",
        ) from error
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def llama_build() -> str:
    """The llama.cpp that is installed, for people and for comparing."""
    return f"llama-cpp-python {importlib.metadata.version('llama-cpp-python')}"


def _write(source: Path, target: Path, to: TargetType, threads: int) -> None:
    shapes = _shapes(source)
    command = [sys.executable, "-m", "edgevox.llm.requantize", str(source), str(target), to, str(threads)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise ModelError(f"it took longer than {_TIMEOUT_S:.0f} s") from error
    if done.returncode < 0:
        raise ModelError(f"llama.cpp was ended by signal {-done.returncode}")
    if done.returncode > 0:
        said = [line for line in done.stderr.splitlines() if "failed" in line]
        raise ModelError(said[-1] if said else f"exit code {done.returncode}")
    if _shapes(target) != shapes:
        raise ModelError("the copy does not have the same tensors")


def _shapes(path: Path) -> dict[str, tuple[int, ...]]:
    return {tensor.name: tensor.shape for tensor in read_header(path).tensors}


# --- in the child


def _main(source: str, target: str, to: str, threads: str) -> int:
    # Not at the top of the file: the process that asks stays light.
    import llama_cpp as llama

    params = llama.llama_model_quantize_default_params()
    params.ftype = FILE_TYPES[to]
    params.nthread = int(threads)
    params.allow_requantize = True
    failed: int = llama.llama_model_quantize(source.encode(), target.encode(), ctypes.byref(params))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
