"""Whether a faster copy of a model is worth making on this processor, making it, and which file is then used.

The rule is in `judge`, the measurements behind it in docs/adr/0011-requantise-on-first-use.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from edgevox.engine.threads import plan_threads
from edgevox.errors import ModelError
from edgevox.llm.cpu import WeightType, repacked_types
from edgevox.llm.gguf_header import GgufHeader, TensorInfo, read_header
from edgevox.llm.requantize import TargetType, llama_build, requantise
from edgevox.modelstore import ModelStore, OptimisedCopy, Recipe, size_text

# Q8_0 keeps what these hold: the copy predicts text about as well. A copy as Q4_0 would not.
_KEPT_BY_Q8_0 = frozenset(
    {
        WeightType.F32,
        WeightType.F16,
        WeightType.BF16,
        WeightType.Q4_1,
        WeightType.Q5_0,
        WeightType.Q5_1,
    }
)
# A generated word reads every weight once: in big models the memory sets the pace, and Q8_0 has more to read.
_LARGEST_COPY_BYTES = 400_000_000
_LARGEST_ORIGINAL_BYTES = 4 * _LARGEST_COPY_BYTES
_MOST = 0.5
_EMBEDDING, _OUTPUT = "token_embd.weight", "output.weight"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The type that a model should be copied to by itself, if any, and why."""

    target: TargetType | None
    reason: str


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """What the engine opens: a model, and an adapter to be applied at run time."""

    model: Path
    adapter: Path | None = None
    adapter_scale: float = 1.0


def judge(header: GgufHeader, repacked: frozenset[WeightType]) -> Verdict:
    """Whether a copy is worth making without being asked for, where `repacked` types are the fast ones."""
    if WeightType.Q8_0 not in repacked:
        return Verdict(None, "no type is known to be faster on this processor")
    weights = _multiplied(header)
    elements = sum(tensor.elements for tensor in weights)
    gaining = sum(tensor.elements for tensor in weights if tensor.type in _KEPT_BY_Q8_0 - repacked)
    name = main_type(header)
    if gaining <= _MOST * elements:
        return Verdict(None, f"{name} is fast on this processor, or would lose too much as another type")
    if (copy_bytes := q8_0_bytes(header)) > _LARGEST_COPY_BYTES:
        return Verdict(None, f"a copy would take {size_text(copy_bytes)}: only --type makes one that big")
    return Verdict("Q8_0", f"this processor has fast kernels for Q8_0 and none for {name}")


def wanted_type(store: ModelStore, model_id: str) -> Verdict:
    """What a copy of a stored model should be, if one is worth making. Raises ModelError."""
    original = store.path(model_id)
    if store.sha256(model_id) is None or original.stat().st_size > _LARGEST_ORIGINAL_BYTES:
        return Verdict(None, "it is too big, or not known")
    return judge(read_header(original), repacked_types())


def optimise_on_first_use(store: ModelStore, model_id: str, tell: Callable[[str], None]) -> None:
    """Make the copy that the rule asks for, unless it is there. Raises ModelError; the original stays."""
    if store.optimised(model_id):
        return
    verdict = wanted_type(store, model_id)
    if verdict.target is not None:
        tell(f"{model_id}: making a faster copy, once ({verdict.reason})")
        make_copy(store, model_id, verdict.target)


def make_copy(store: ModelStore, model_id: str, to: TargetType) -> OptimisedCopy:
    """A copy of the model with weights of another type. Raises ModelError."""

    def make(original: Path, copy: Path) -> None:
        requantise(original, copy, to, threads=plan_threads().llama_prompt)

    about_bytes = q8_0_bytes(read_header(store.path(model_id)))
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


def q8_0_bytes(header: GgufHeader) -> int:
    """About how big the model is as Q8_0: 34 bytes for 32 weights."""
    return sum(tensor.elements for tensor in header.tensors) * 34 // 32 + len(header.raw_metadata)


def _multiplied(header: GgufHeader) -> list[TensorInfo]:
    """The weights that a prompt is multiplied with: the table of words only where it serves as output too."""
    matrices = [tensor for tensor in header.tensors if len(tensor.shape) > 1]
    has_output = any(tensor.name == _OUTPUT for tensor in matrices)
    return [tensor for tensor in matrices if not (has_output and tensor.name == _EMBEDDING)]
