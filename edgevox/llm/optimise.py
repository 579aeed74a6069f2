"""Whether a faster copy of a model is worth making on this processor, making it, and which file is then used.

The speed of each type is measured on this processor (weight_types.py); docs/adr/0011 has the figures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from edgevox.engine.threads import plan_threads
from edgevox.errors import ModelError
from edgevox.llm.gguf_header import GgufHeader, TensorInfo, read_header
from edgevox.llm.requantize import TargetType, llama_build, requantise
from edgevox.llm.weight_types import (
    COPY_TYPES,
    WeightType,
    fastest_copy_type,
    known_speeds,
    turn_cpu_s,
    weight_speeds,
)
from edgevox.modelstore import ModelStore, OptimisedCopy, Recipe, WeightSpeed, size_text

# A copy in one of COPY_TYPES predicts text about as well as these.
_KEPT_BY_A_COPY = frozenset({"F32", "F16", "BF16", "Q4_1", "Q5_0", "Q5_1", "Q8_0"})
# A generated word reads every weight once: in big models memory sets the pace, and a copy has more to read.
_LARGEST_COPY_BYTES = 400_000_000
_LARGEST_ORIGINAL_BYTES = 4 * _LARGEST_COPY_BYTES
_BITS_PER_WEIGHT: Final[dict[str, float]] = {"Q4_0": 4.5, "Q8_0": 8.5, "F16": 16}
# Less than this is what a measurement varies by.
_FASTER = 1.1
_EMBEDDING, _OUTPUT = "token_embd.weight", "output.weight"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The type that a model should be copied to by itself, if any, and why."""

    target: TargetType | None
    reason: str


Judge: TypeAlias = Callable[[GgufHeader, Mapping[str, WeightSpeed]], Verdict]


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """What the engine opens: a model, and an adapter to be applied at run time."""

    model: Path
    adapter: Path | None = None
    adapter_scale: float = 1.0


def judge(header: GgufHeader, speeds: Mapping[str, WeightSpeed]) -> Verdict:
    """Whether a plain copy is worth making without being asked for, at the measured speed of each type."""
    name = main_type(header)
    if name not in _KEPT_BY_A_COPY:
        return Verdict(None, f"{name} would lose too much, or grow too much, as another type")
    verdict = judge_merged(header, speeds)
    if verdict.target is None or name not in speeds:
        return verdict
    gain = turn_cpu_s(speeds[name]) / turn_cpu_s(speeds[verdict.target])
    if name == verdict.target or gain < _FASTER:
        return Verdict(None, f"{name} is as fast as any other type on this processor")
    return Verdict(
        verdict.target, f"{verdict.target} is {gain:.1f} times as fast as {name} on this processor"
    )


def judge_merged(header: GgufHeader, speeds: Mapping[str, WeightSpeed]) -> Verdict:
    """The type for a copy with an adapter in it, or none where the model is too big for a copy."""
    fitting = [kind for kind in COPY_TYPES if copy_bytes(header, kind) <= _LARGEST_COPY_BYTES]
    if not fitting:
        size = size_text(copy_bytes(header, COPY_TYPES[0]))
        return Verdict(None, f"a copy would take {size}: only --type makes one that big")
    best = fastest_copy_type({kind: speeds[kind] for kind in fitting})
    return Verdict(best, f"{best} is the fastest type on this processor")


def wanted_type(store: ModelStore, model_id: str, tell: Callable[[str], None], judge: Judge) -> Verdict:
    """What a copy of a stored model should be, if one is worth making. Raises ModelError."""
    original = store.path(model_id)
    if store.sha256(model_id) is None or original.stat().st_size > _LARGEST_ORIGINAL_BYTES:
        return Verdict(None, "it is too big, or not known")
    header = read_header(original)
    return judge(header, weight_speeds(store, tell))


def is_settled(store: ModelStore, copy: OptimisedCopy | None) -> bool:
    """Whether a copy can stay: the types were compared on this processor, or it was made by command."""
    return copy is not None and (copy.record.type not in COPY_TYPES or known_speeds(store) is not None)


def optimise_on_first_use(store: ModelStore, model_id: str, tell: Callable[[str], None]) -> None:
    """Make the copy that the measurement asks for, unless it is there. Raises ModelError."""
    existing = store.optimised(model_id)
    if is_settled(store, existing):
        return
    verdict = wanted_type(store, model_id, tell, judge)
    if verdict.target is not None and (existing is None or existing.record.type != verdict.target):
        tell(f"{model_id}: making a faster copy, once ({verdict.reason})")
        make_copy(store, model_id, verdict.target)


def make_copy(store: ModelStore, model_id: str, to: TargetType) -> OptimisedCopy:
    """A copy of the model with weights of another type. Raises ModelError."""

    def make(original: Path, copy: Path) -> None:
        requantise(original, copy, to, threads=plan_threads().llama_prompt)

    about_bytes = copy_bytes(read_header(store.path(model_id)), to)
    return store.keep_optimised(model_id, Recipe(to, llama_build()), make, about_bytes=about_bytes)


def model_files(
    store: ModelStore, model_id: str, *, adapter: str | None, adapter_scale: float, optimised: bool
) -> ModelFiles:
    """The files for a model and, where there is one, its adapter's id. Raises ModelMissing and ModelError.

    A copy with the adapter in it goes first, then a plain copy; the original is what there always is.
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
    """Raises ModelError unless the manifest says that the adapter of that id is for the model."""
    base = store.manifest.entry(adapter).base
    if base != model_id:
        kind = f"is for {base}" if base else "is no adapter"
        raise ModelError(f"{adapter} {kind}, so {model_id} cannot take it", hint="choose another adapter")


def main_type(header: GgufHeader) -> str:
    """The type of most of the weights, by name."""
    counted: Counter[int] = Counter()
    for tensor in _multiplied(header):
        counted[tensor.type] += tensor.elements
    number = counted.most_common(1)[0][0] if counted else int(WeightType.F32)
    return WeightType(number).name if number in set(WeightType) else f"type {number}"


def copy_bytes(header: GgufHeader, to: TargetType) -> int:
    """About how big the model is in that type."""
    elements = sum(tensor.elements for tensor in header.tensors)
    return int(elements * _BITS_PER_WEIGHT[to] / 8) + len(header.raw_metadata)


def _multiplied(header: GgufHeader) -> list[TensorInfo]:
    """The weights that a prompt is multiplied with: the table of words only where it serves as output too."""
    matrices = [tensor for tensor in header.tensors if len(tensor.shape) > 1]
    has_output = any(tensor.name == _OUTPUT for tensor in matrices)
    return [tensor for tensor in matrices if not (has_output and tensor.name == _EMBEDDING)]
