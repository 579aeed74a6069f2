"""Measures the speed of a GGUF file on this machine and how well it predicts a fixed text, in a child process.

The child is `python -m edgevox.models.speed FILE THREADS speed|text`: one run, JSON on standard output.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from edgevox.core.errors import ModelError
from edgevox.core.files import data_path

_ROUNDS = 3
_PROMPT_TOKENS = 128
_GENERATED_TOKENS = 24
_CONTEXT_TOKENS = 1024
# Logits take 4 bytes per vocabulary entry and token: 64 tokens of 262,000 entries are 67 MB.
_SCORED_AT_ONCE_TOKENS = 64
_TIMEOUT_S = 900.0


@dataclass(frozen=True, slots=True)
class ModelSpeed:
    """The best of several runs, and the mean log probability (natural) of a token of the text."""

    prompt_tokens_s: float
    generated_tokens_s: float
    mean_logprob: float

    @property
    def turn_s(self) -> float:
        """Return the duration of an assistant turn at this speed: a prompt, and a sentence or two."""
        return _PROMPT_TOKENS / self.prompt_tokens_s + _GENERATED_TOKENS / self.generated_tokens_s


def measure(paths: Sequence[Path], *, threads: int) -> list[ModelSpeed]:
    """Measure files alternately, so that other load on the machine affects all of them. Raises ModelError."""
    rounds = [[_run(path, threads, "speed") for path in paths] for _ in range(_ROUNDS)]
    return [
        ModelSpeed(
            prompt_tokens_s=max(prompt_tokens_s for prompt_tokens_s, _ in runs),
            generated_tokens_s=max(generated_tokens_s for _, generated_tokens_s in runs),
            mean_logprob=mean_logprob(path, threads=threads),
        )
        for path, runs in zip(paths, zip(*rounds, strict=True), strict=True)
    ]


def mean_logprob(path: Path, *, threads: int) -> float:
    """Return the mean natural log probability of a token of the text. Raises ModelError."""
    return _run(path, threads, "text")[0]


def _run(path: Path, threads: int, what: Literal["speed", "text"]) -> list[float]:
    command = [sys.executable, "-m", "edgevox.models.speed", str(path), str(threads), what]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise ModelError(
            f"{path.name} is too slow to measure", hint="choose a smaller model for this machine"
        ) from error
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise ModelError(f"{path.name} cannot be measured: {last}", hint="edgevox models verify checks it")
    numbers: list[float] = json.loads(done.stdout)
    return numbers


# --- child process


def _measure_here(path: Path, threads: int, what: str) -> list[float]:
    # Lazy: the parent process stays light.
    import llama_cpp as llama

    model, context = load(llama, path, context_tokens=_CONTEXT_TOKENS, threads=threads)
    vocab = llama.llama_model_get_vocab(model)
    tokens = _tokens(llama, vocab)
    if what == "text":
        return [_mean_logprob(llama, context, tokens, llama.llama_vocab_n_tokens(vocab))]
    began_s = time.perf_counter()
    decode(llama, context, tokens[:_PROMPT_TOKENS])
    middle_s = time.perf_counter()
    # The next tokens of the text, one by one: their values do not matter.
    for token in tokens[_PROMPT_TOKENS : _PROMPT_TOKENS + _GENERATED_TOKENS]:
        decode(llama, context, [token])
    return [_PROMPT_TOKENS / (middle_s - began_s), _GENERATED_TOKENS / (time.perf_counter() - middle_s)]


def _tokens(llama: Any, vocab: Any) -> list[int]:  # noqa: ANN401  (the bindings have no types)
    text = data_path("models", "sample_text.txt").read_bytes()
    found = (llama.llama_token * len(text))()
    count = llama.llama_tokenize(vocab, text, len(text), found, len(found), True, False)
    return list(found[: min(count, _CONTEXT_TOKENS)])


def _mean_logprob(llama: Any, context: Any, tokens: list[int], words: int) -> float:  # noqa: ANN401
    total = 0.0
    batch = llama.llama_batch_init(_SCORED_AT_ONCE_TOKENS, 0, 1)
    for first in range(0, len(tokens) - 1, _SCORED_AT_ONCE_TOKENS):
        piece = tokens[first : min(first + _SCORED_AT_ONCE_TOKENS, len(tokens) - 1)]
        batch.n_tokens = len(piece)
        for place, token in enumerate(piece):
            batch.token[place] = token
            batch.pos[place] = first + place
            batch.n_seq_id[place] = 1
            batch.seq_id[place][0] = 0
            batch.logits[place] = 1
        if llama.llama_decode(context, batch) != 0:
            raise ModelError("llama.cpp stopped")
        address = ctypes.cast(llama.llama_get_logits(context), ctypes.POINTER(ctypes.c_float))
        logits = np.ctypeslib.as_array(address, shape=(len(piece), words))
        top = logits.max(axis=1)
        all_words = top + np.log(np.exp(logits - top[:, None]).sum(axis=1))
        followed_by = tokens[first + 1 : first + 1 + len(piece)]
        total += float((logits[np.arange(len(piece)), followed_by] - all_words).sum())
    llama.llama_batch_free(batch)
    return total / (len(tokens) - 1)


def may_repack(llama: Any) -> bool:  # noqa: ANN401
    """Return whether llama.cpp may repack weights: not into AMX tiles, as GCC 12 compiles them to what ends in SIGILL.

    script/llama-build.cmake compiles without AMX; a library that pip has compiled alone may have it.
    """
    return b"AMX_INT8 = 1" not in llama.llama_print_system_info()


def load(llama: Any, path: Path, *, context_tokens: int, threads: int) -> tuple[Any, Any]:  # noqa: ANN401
    """Return the model and a context. Raises ModelError."""
    parameters = llama.llama_model_default_params()
    parameters.use_extra_bufts = may_repack(llama)
    model = llama.llama_model_load_from_file(str(path).encode(), parameters)
    if model is None:
        raise ModelError(f"llama.cpp cannot load {path}")
    params = llama.llama_context_default_params()
    params.n_ctx = context_tokens
    params.n_threads = params.n_threads_batch = threads
    context = llama.llama_init_from_model(model, params)
    if context is None:
        raise ModelError(f"not enough memory for {path}")
    return model, context


def decode(llama: Any, context: Any, tokens: Sequence[int]) -> None:  # noqa: ANN401
    """Run the model on the next tokens. Raises ModelError."""
    array = (llama.llama_token * len(tokens))(*tokens)  # the batch only points to it
    if llama.llama_decode(context, llama.llama_batch_get_one(array, len(tokens))) != 0:
        raise ModelError("llama.cpp stopped")
    llama.llama_synchronize(context)


def _main(path: str, threads: str, what: str) -> int:
    try:
        numbers = _measure_here(Path(path), int(threads), what)
    except ModelError as error:
        sys.stderr.write(error.message + "\n")
        return 1
    sys.stdout.write(json.dumps(numbers))
    return 0


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
