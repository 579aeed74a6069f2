"""How fast llama.cpp computes with each weight type on this processor: measured once, kept in lock.json.

`python -m edgevox.llm.weight_types FOLDER` is the child process that measures. It writes a small model with
random weights in every type and runs it on one thread. CPU time counts, not elapsed time, so that other work
on the machine changes the result little.
"""

from __future__ import annotations

import ctypes
import json
import logging
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from enum import IntEnum
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

from edgevox.llm.requantize import FILE_TYPES, llama_build
from edgevox.modelstore import ModelStore, ProcessorRecord, WeightSpeed
from edgevox.platform_support import processor_name

log = logging.getLogger(__name__)


class WeightType(IntEnum):
    """ggml's numbers of the types that models come in."""

    F32 = 0
    F16 = 1
    Q4_0 = 2
    Q4_1 = 3
    Q5_0 = 6
    Q5_1 = 7
    Q8_0 = 8
    Q2_K = 10
    Q3_K = 11
    Q4_K = 12
    Q5_K = 13
    Q6_K = 14
    IQ4_NL = 20
    IQ4_XS = 23
    BF16 = 30
    MXFP4 = 39


# What a copy is made in: the types that lose next to nothing, smallest first.
CopyType: TypeAlias = Literal["Q8_0", "F16"]
COPY_TYPES: tuple[CopyType, ...] = get_args(CopyType)
MEASURED_TYPES: Final = ("Q4_1", "Q5_0", "Q5_1", *COPY_TYPES)

# Used where the measurement fails: two Neoverse-N1 cores (docs/adr/0011-requantise-on-first-use.md).
DEFAULT_SPEEDS: Final[dict[str, WeightSpeed]] = {
    "Q4_1": WeightSpeed(batch_tokens_s=71, single_tokens_s=50),
    "Q5_0": WeightSpeed(batch_tokens_s=64, single_tokens_s=46),
    "Q5_1": WeightSpeed(batch_tokens_s=57, single_tokens_s=43),
    "Q8_0": WeightSpeed(batch_tokens_s=211, single_tokens_s=75),
    "F16": WeightSpeed(batch_tokens_s=105, single_tokens_s=48),
}

_TIMEOUT_S = 20.0  # two seconds on an idle machine
# A command's turn: its question, the runs of tokens that a grammar forces and what the next prompt begins
# with come in batches, the rest of the call token by token.
_TURN_BATCH_TOKENS, _TURN_SINGLE_TOKENS = 96, 12
# A larger copy must be worth its memory.
_WORTHWHILE = 1.3


def turn_cpu_s(speed: WeightSpeed) -> float:
    """CPU seconds of a command's turn with the small model of the measurement."""
    return _TURN_BATCH_TOKENS / speed.batch_tokens_s + _TURN_SINGLE_TOKENS / speed.single_tokens_s


def fastest_copy_type(speeds: dict[str, WeightSpeed]) -> CopyType:
    """The type for copies on this processor; a larger one only where it is clearly faster."""
    candidates = [kind for kind in COPY_TYPES if kind in speeds]
    best = candidates[0]
    for larger in candidates[1:]:
        if turn_cpu_s(speeds[larger]) * _WORTHWHILE < turn_cpu_s(speeds[best]):
            best = larger
    return best


def known_speeds(store: ModelStore) -> ProcessorRecord | None:
    """What was measured on this processor with this build of llama.cpp, if anything."""
    record = store.processor(processor_name())
    return record if record is not None and record.llama_build == llama_build() else None


def weight_speeds(store: ModelStore, tell: Callable[[str], None]) -> dict[str, WeightSpeed]:
    """The speed of each measured type on this processor; measures the first time.

    Where that fails, or takes too long, the default table counts, and the next start tries again.
    """
    known = known_speeds(store)
    if known is not None:
        return dict(known.speeds)
    tell(f"measuring once which weight type is fastest on this processor ({processor_name()})")
    return measure_weight_types(store)


def measure_weight_types(store: ModelStore) -> dict[str, WeightSpeed]:
    """Measure now, and keep the result in lock.json; the default table where that is not possible.

    Raises ModelError where lock.json cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix="edgevox-weights-") as folder:
        command = [sys.executable, "-m", "edgevox.llm.weight_types", folder]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=True)
            speeds = {name: WeightSpeed(**found) for name, found in json.loads(done.stdout).items()}
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            log.warning("weight types could not be measured, so the default table is used: %s", error)
            return dict(DEFAULT_SPEEDS)
    store.keep_processor(processor_name(), ProcessorRecord(llama_build=llama_build(), speeds=speeds))
    return speeds


# --- in the child

_WIDTH, _FEED_FORWARD, _HEADS, _KV_HEADS = 576, 1536, 9, 3  # the default model's
_LAYERS, _WORDS, _CONTEXT_TOKENS = 6, 8192, 128
_BATCH_TOKENS, _SINGLE_TOKENS, _ROUNDS = 16, 6, 3


def _write_model(path: Path) -> None:
    # Not at the top of the file: only this process needs them.
    import gguf
    import numpy as np

    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_tokenizer_model("no_vocab")
    writer.add_vocab_size(_WORDS)
    writer.add_context_length(_CONTEXT_TOKENS)
    writer.add_embedding_length(_WIDTH)
    writer.add_feed_forward_length(_FEED_FORWARD)
    writer.add_block_count(_LAYERS)
    writer.add_head_count(_HEADS)
    writer.add_head_count_kv(_KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    values = np.random.default_rng(1).standard_normal(_WIDTH * 1024, dtype=np.float32).astype(np.float16)
    kv_width = _WIDTH // _HEADS * _KV_HEADS
    matrices = {"token_embd": (_WORDS, _WIDTH)}
    for layer in range(_LAYERS):
        block = f"blk.{layer}"
        matrices |= {f"{block}.attn_{part}": (_WIDTH, _WIDTH) for part in ("q", "output")}
        matrices |= {f"{block}.attn_{part}": (kv_width, _WIDTH) for part in ("k", "v")}
        matrices |= {f"{block}.ffn_{part}": (_FEED_FORWARD, _WIDTH) for part in ("gate", "up")}
        matrices[f"{block}.ffn_down"] = (_WIDTH, _FEED_FORWARD)
        for part in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"{block}.{part}.weight", np.ones(_WIDTH, dtype=np.float32))
    writer.add_tensor("output_norm.weight", np.ones(_WIDTH, dtype=np.float32))
    for name, shape in matrices.items():
        writer.add_tensor(f"{name}.weight", np.resize(values, shape))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _speed(llama: Any, path: Path) -> dict[str, float]:  # noqa: ANN401  (the bindings have no types)
    model = llama.llama_model_load_from_file(str(path).encode(), llama.llama_model_default_params())
    params = llama.llama_context_default_params()
    params.n_ctx = _CONTEXT_TOKENS
    params.n_threads = params.n_threads_batch = 1
    context = llama.llama_init_from_model(model, params)
    memory = llama.llama_get_memory(context)

    def tokens_s(batch_tokens: int, times: int) -> float:
        array = (llama.llama_token * batch_tokens)(*range(batch_tokens))
        best_s = float("inf")
        for _ in range(_ROUNDS):
            llama.llama_memory_clear(memory, True)
            began_s = time.process_time()
            for _ in range(times):
                if llama.llama_decode(context, llama.llama_batch_get_one(array, batch_tokens)) != 0:
                    raise RuntimeError("llama.cpp stopped")
            best_s = min(best_s, time.process_time() - began_s)
        return round(batch_tokens * times / best_s, 1)

    tokens_s(_BATCH_TOKENS, 1)  # reads the file
    found = {
        "batch_tokens_s": tokens_s(_BATCH_TOKENS, 1),
        "single_tokens_s": tokens_s(1, _SINGLE_TOKENS),
    }
    llama.llama_free(context)
    llama.llama_model_free(model)
    return found


def _main(folder: str) -> int:
    import llama_cpp as llama

    source = Path(folder) / "F16.gguf"
    _write_model(source)
    params = llama.llama_model_quantize_default_params()
    params.nthread, params.pure = 1, True
    found = {}
    for name in MEASURED_TYPES:
        path = Path(folder) / f"{name}.gguf"
        if path != source:
            params.ftype = FILE_TYPES[name]
            if llama.llama_model_quantize(str(source).encode(), str(path).encode(), ctypes.byref(params)):
                return 1
        found[name] = _speed(llama, path)
    sys.stdout.write(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
