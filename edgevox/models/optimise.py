"""Makes a faster copy of a model for this processor, with the adapter merged into it, where that pays.

The speed of each weight type is measured once per processor and kept in lock.json; the figures are in
docs/adr/0011-requantise-on-first-use.md. `python -m edgevox.models.optimise FOLDER` is the child process that measures:
it writes a small model with random weights in every type and runs it on one thread.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

from edgevox.core.errors import ModelError, ModelMissing
from edgevox.core.platform import processor_name
from edgevox.engines.threads import plan_threads
from edgevox.models import (
    ModelStore,
    OptimisedCopy,
    ProcessorRecord,
    Progress,
    Recipe,
    WeightSpeed,
    sha256_of,
    size_text,
)
from edgevox.models.gguf_file import GgufHeader, TargetType, TensorInfo, llama_build, quantise, read_header, requantise
from edgevox.models.speed import decode, load

log = logging.getLogger(__name__)


class WeightType(IntEnum):
    """ggml's numbers of the weight types of models."""

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


# The types of copies, smallest first: those with next to no loss.
CopyType: TypeAlias = Literal["Q8_0", "F16"]
COPY_TYPES: tuple[CopyType, ...] = get_args(CopyType)
MEASURED_TYPES: Final = ("Q4_1", "Q5_0", "Q5_1", *COPY_TYPES)

# Used if the measurement fails: two Neoverse-N1 cores (docs/adr/0011-requantise-on-first-use.md).
DEFAULT_SPEEDS: Final[dict[str, WeightSpeed]] = {
    "Q4_1": WeightSpeed(batch_tokens_s=71, single_tokens_s=50),
    "Q5_0": WeightSpeed(batch_tokens_s=64, single_tokens_s=46),
    "Q5_1": WeightSpeed(batch_tokens_s=57, single_tokens_s=43),
    "Q8_0": WeightSpeed(batch_tokens_s=211, single_tokens_s=75),
    "F16": WeightSpeed(batch_tokens_s=105, single_tokens_s=48),
}

_TIMEOUT_S = 20.0  # two seconds on an idle machine
# A command turn: the question, tokens forced by the grammar and the next prompt's prefix run in batches, the rest of
# the call token by token.
_TURN_BATCH_TOKENS, _TURN_SINGLE_TOKENS = 96, 12
# A larger copy must be worth its memory.
_WORTHWHILE = 1.3


def turn_cpu_s(speed: WeightSpeed) -> float:
    """Return the CPU seconds of a command turn with the small model of the measurement."""
    return _TURN_BATCH_TOKENS / speed.batch_tokens_s + _TURN_SINGLE_TOKENS / speed.single_tokens_s


def fastest_copy_type(speeds: dict[str, WeightSpeed]) -> CopyType:
    """Return the type for copies on this processor; a larger one only if it is clearly faster."""
    candidates = [kind for kind in COPY_TYPES if kind in speeds]
    best = candidates[0]
    for larger in candidates[1:]:
        if turn_cpu_s(speeds[larger]) * _WORTHWHILE < turn_cpu_s(speeds[best]):
            best = larger
    return best


def known_speeds(store: ModelStore) -> ProcessorRecord | None:
    """Return the measurement of this processor with this build of llama.cpp, if any."""
    record = store.processor(processor_name())
    return record if record is not None and record.llama_build == llama_build() else None


def weight_speeds(store: ModelStore, report: Callable[[str], None]) -> dict[str, WeightSpeed]:
    """Return the speed of each weight type on this processor; measures the first time.

    If that fails or takes too long, the default table is used, and the next start tries again.
    """
    known = known_speeds(store)
    if known is not None:
        return dict(known.speeds)
    report(f"measuring once which weight type is fastest on this processor ({processor_name()})")
    return measure_weight_types(store)


def measure_weight_types(store: ModelStore) -> dict[str, WeightSpeed]:
    """Measure now and store the result in lock.json; use the default table if that fails.

    Raises ModelError if lock.json cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix="edgevox-weights-") as folder:
        command = [sys.executable, "-m", "edgevox.models.optimise", folder]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=True)
            speeds = {name: WeightSpeed(**found) for name, found in json.loads(done.stdout).items()}
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            log.warning("weight types could not be measured, so the default table is used: %s", error)
            return dict(DEFAULT_SPEEDS)
    store.keep_processor(processor_name(), ProcessorRecord(llama_build=llama_build(), speeds=speeds))
    return speeds


# --- child process

_WIDTH, _FEED_FORWARD, _HEADS, _KV_HEADS = 576, 1536, 9, 3  # the default model's
_LAYERS, _WORDS, _CONTEXT_TOKENS = 6, 8192, 128
_BATCH_TOKENS, _SINGLE_TOKENS, _ROUNDS = 16, 6, 3


def _write_model(path: Path) -> None:
    # Lazy: only this process needs them.
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
    model, context = load(llama, path, context_tokens=_CONTEXT_TOKENS, threads=1)

    def tokens_s(batch_tokens: int, times: int) -> float:
        best_s = float("inf")
        for _ in range(_ROUNDS):
            llama.llama_memory_clear(llama.llama_get_memory(context), True)
            began_s = time.process_time()
            for _ in range(times):
                decode(llama, context, range(batch_tokens))
            best_s = min(best_s, time.process_time() - began_s)
        return round(batch_tokens * times / best_s, 1)

    tokens_s(_BATCH_TOKENS, 1)  # reads the file
    found = {"batch_tokens_s": tokens_s(_BATCH_TOKENS, 1), "single_tokens_s": tokens_s(1, _SINGLE_TOKENS)}
    llama.llama_free(context)
    llama.llama_model_free(model)
    return found


def _main(folder: str) -> int:
    import llama_cpp as llama

    source = Path(folder) / "F16.gguf"
    _write_model(source)
    found = {}
    for name in MEASURED_TYPES:
        path = Path(folder) / f"{name}.gguf"
        if path != source and quantise(str(source), str(path), name, threads=1, pure=True):
            return 1
        found[name] = _speed(llama, path)
    sys.stdout.write(json.dumps(found))
    return 0


# A copy in one of COPY_TYPES predicts text about as well as these.
_KEPT_BY_A_COPY = frozenset({"F32", "F16", "BF16", "Q4_1", "Q5_0", "Q5_1", "Q8_0"})
# Each generated token reads every weight once: big models are limited by memory bandwidth, and a copy has more to read.
_LARGEST_COPY_BYTES = 400_000_000
_LARGEST_ORIGINAL_BYTES = 4 * _LARGEST_COPY_BYTES
_BITS_PER_WEIGHT: Final[dict[str, float]] = {"Q4_0": 4.5, "Q8_0": 8.5, "F16": 16}
# The variation of the measurement.
_FASTER = 1.1
_EMBEDDING, _OUTPUT = "token_embd.weight", "output.weight"


@dataclass(frozen=True, slots=True)
class CopyAdvice:
    """The type an automatic copy should have, if any, and the reason."""

    target: TargetType | None
    reason: str


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The files for the engine: a model, and an adapter to apply at run time."""

    model: Path
    adapter: Path | None = None
    adapter_scale: float = 1.0


def assess_copy(header: GgufHeader, speeds: Mapping[str, WeightSpeed]) -> CopyAdvice:
    """Decide whether an automatic plain copy pays, at the measured speed of each type."""
    name = main_type(header)
    if name not in _KEPT_BY_A_COPY:
        return CopyAdvice(None, f"{name} would lose too much precision, or grow too much, as another type")
    advice = assess_merged_copy(header, speeds)
    if advice.target is None or name not in speeds:
        return advice
    gain = turn_cpu_s(speeds[name]) / turn_cpu_s(speeds[advice.target])
    if name == advice.target or gain < _FASTER:
        return CopyAdvice(None, f"{name} is as fast as any other type on this processor")
    return CopyAdvice(advice.target, f"{advice.target} is {gain:.1f} times as fast as {name} on this processor")


def assess_merged_copy(header: GgufHeader, speeds: Mapping[str, WeightSpeed]) -> CopyAdvice:
    """Return the type of a copy with an adapter, or none if the model is too big for a copy."""
    fitting = [kind for kind in COPY_TYPES if copy_bytes(header, kind) <= _LARGEST_COPY_BYTES]
    if not fitting:
        size = size_text(copy_bytes(header, COPY_TYPES[0]))
        return CopyAdvice(None, f"a copy would take {size}: only --type makes one that big")
    best = fastest_copy_type({kind: speeds[kind] for kind in fitting})
    return CopyAdvice(best, f"{best} is the fastest type on this processor")


def optimise_on_first_use(
    store: ModelStore, model_id: str, report: Callable[[str], None], adapter: str | None = None, scale: float = 1.0
) -> None:
    """Make the copy that the measurement suggests, unless it exists. Raises ModelError.

    The adapter is merged into it. Only if the model is too big for a copy is the adapter applied at run time, which
    takes a fifth more time with the default model (docs/adr/0011-requantise-on-first-use.md).
    """
    digest = store.sha256(adapter) if adapter else None
    if adapter and digest is None:
        return
    existing = store.optimised(model_id, adapter_sha256=digest, adapter_scale=scale)
    # A copy can stay if the types were measured on this processor, or if the user made it.
    if existing is not None and (existing.record.type not in COPY_TYPES or known_speeds(store) is not None):
        return
    original = store.path(model_id)
    if store.sha256(model_id) is None or original.stat().st_size > _LARGEST_ORIGINAL_BYTES:
        return  # unknown, or too big
    assess = assess_merged_copy if adapter else assess_copy
    advice = assess(read_header(original), weight_speeds(store, report))
    if advice.target is None or (existing is not None and existing.record.type == advice.target):
        return
    merged = f" with {adapter} merged" if adapter else ""
    report(f"{model_id}: making a faster copy{merged}, once ({advice.reason})")
    file = AdapterFile(adapter, adapter, store.path(adapter), digest) if adapter and digest else None
    make_copy(store, model_id, advice.target, file, scale)


def model_files(
    store: ModelStore, model_id: str, *, adapter: str | None, adapter_scale: float, optimised: bool
) -> ModelFiles:
    """Return the files of a model and its adapter, if any. Raises ModelMissing and ModelError.

    A copy with the adapter merged is preferred, then a plain copy, then the original.
    """
    original = store.path(model_id)
    plain = store.optimised(model_id) if optimised else None
    model = plain.path if plain else original
    if adapter is None:
        return ModelFiles(model)
    check_base(store, model_id, adapter)
    adapter_path, digest = store.path(adapter), store.sha256(adapter)
    if optimised and digest:
        merged = store.optimised(model_id, adapter_sha256=digest, adapter_scale=adapter_scale)
        if merged:
            return ModelFiles(merged.path)
    return ModelFiles(model, adapter_path, adapter_scale)


def check_base(store: ModelStore, model_id: str, adapter: str) -> None:
    """Raises ModelError unless the manifest lists the adapter for this model."""
    base = store.manifest.entry(adapter).base
    if base != model_id:
        kind = f"is for {base}" if base else "is not an adapter"
        raise ModelError(f"{adapter} {kind}, so {model_id} cannot take it", hint="choose another adapter")


def main_type(header: GgufHeader) -> str:
    """Return the name of the most frequent weight type."""
    counted: Counter[int] = Counter()
    for tensor in _matmul_weights(header):
        counted[tensor.type] += tensor.elements
    number = counted.most_common(1)[0][0] if counted else int(WeightType.F32)
    return WeightType(number).name if number in set(WeightType) else f"type {number}"


def copy_bytes(header: GgufHeader, to: TargetType) -> int:
    """Estimate the size of the model in that type."""
    elements = sum(tensor.elements for tensor in header.tensors)
    return int(elements * _BITS_PER_WEIGHT[to] / 8) + len(header.raw_metadata)


def _matmul_weights(header: GgufHeader) -> list[TensorInfo]:
    """Return the weights that a prompt is multiplied with; the embeddings only if they are also the output."""
    matrices = [tensor for tensor in header.tensors if len(tensor.shape) > 1]
    has_output = any(tensor.name == _OUTPUT for tensor in matrices)
    return [tensor for tensor in matrices if not (has_output and tensor.name == _EMBEDDING)]


@dataclass(frozen=True, slots=True)
class AdapterFile:
    """A LoRA adapter on disk, with its id if it is in the manifest."""

    id: str | None
    name: str
    path: Path
    sha256: str


def adapter_file(store: ModelStore, model_id: str, name: str, progress: Progress) -> AdapterFile:
    """Return the adapter with that id, pulling it if missing, or in the file of that name. Raises ModelError."""
    entry = store.manifest.find(name)
    if entry is not None and entry.kind == "adapter":
        check_base(store, model_id, name)
        path = store.pull(name, progress)
        return AdapterFile(name, name, path, store.sha256(name) or sha256_of(path))
    path = Path(name).expanduser()
    if not path.is_file():
        raise ModelMissing(
            f"{name} is neither a file nor an adapter in the manifest", hint="edgevox models list shows the adapters"
        )
    return AdapterFile(None, path.stem, path, sha256_of(path))


def make_copy(
    store: ModelStore, model_id: str, to: TargetType, adapter: AdapterFile | None = None, scale: float = 1.0
) -> OptimisedCopy:
    """Make a copy of the model with another weight type, and the adapter merged into it. Raises ModelError."""
    original = store.path(model_id)
    header = read_header(original)
    about_bytes = copy_bytes(header, to)
    threads = plan_threads().llm_prompt
    recipe = Recipe(type=to, made_by=llama_build())
    if adapter is None:
        make = partial(requantise, to=to, threads=threads)
        return store.keep_optimised(model_id, recipe, make, about_bytes=about_bytes)
    # Lazy: gguf takes a tenth of a second to import, and most starts find the copy.
    from edgevox.models.lora import check_adapter, merge

    check_adapter(original, adapter.path)

    def make_merged(original: Path, copy: Path) -> None:
        merged = copy.with_suffix(".merged")
        merge(original, adapter.path, merged, scale=scale)
        requantise(merged, copy, to, threads=threads)

    merged_adapter = {"adapter": adapter.name, "adapter_sha256": adapter.sha256, "adapter_scale": scale}
    recipe = recipe.model_copy(update=merged_adapter)
    return store.keep_optimised(model_id, recipe, make_merged, about_bytes=copy_bytes(header, "F16") + about_bytes)


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
