"""A copy of a stored model with an adapter merged into it, so that running it costs nothing more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from edgevox.engine.threads import plan_threads
from edgevox.errors import ModelMissing
from edgevox.llm.gguf_header import read_header
from edgevox.llm.optimise import check_base, copy_bytes, is_settled, judge_merged, wanted_type
from edgevox.llm.requantize import TargetType, llama_build, requantise
from edgevox.modelstore import MergedAdapter, ModelStore, OptimisedCopy, Progress, Recipe, sha256_of


@dataclass(frozen=True, slots=True)
class AdapterFile:
    """A LoRA adapter on the disk; it has an id where the manifest knows it."""

    id: str | None
    name: str
    path: Path
    sha256: str


def adapter_file(store: ModelStore, model_id: str, name: str, progress: Progress) -> AdapterFile:
    """The adapter of that id, pulled where it is missing, or in the file of that name. Raises ModelError."""
    if store.manifest.kind(name) == "adapter":
        check_base(store, model_id, name)
        path = store.pull(name, progress)
        return AdapterFile(name, name, path, store.sha256(name) or sha256_of(path))
    path = Path(name).expanduser()
    if not path.is_file():
        raise ModelMissing(
            f"{name} is neither a file nor an adapter in the manifest",
            hint="edgevox models list shows which adapters there are",
        )
    return AdapterFile(None, path.stem, path, sha256_of(path))


def merge_on_first_use(
    store: ModelStore, model_id: str, adapter: str, scale: float, tell: Callable[[str], None]
) -> None:
    """Make the copy that has the adapter in it, unless it is there. Raises ModelError.

    Only for a model that is too big for a copy the adapter is applied at run time: with the default model
    that takes a fifth more time (docs/adr/0011-requantise-on-first-use.md).
    """
    digest = store.sha256(adapter)
    if digest is None:
        return
    existing = store.optimised(model_id, adapter_sha256=digest, adapter_scale=scale)
    if is_settled(store, existing):
        return
    verdict = wanted_type(store, model_id, tell, judge_merged)
    if verdict.target is not None and (existing is None or existing.record.type != verdict.target):
        tell(f"{model_id}: making a faster copy with {adapter} in it, once ({verdict.reason})")
        file = AdapterFile(adapter, adapter, store.path(adapter), digest)
        make_merged_copy(store, model_id, verdict.target, file, scale)


def make_merged_copy(
    store: ModelStore, model_id: str, to: TargetType, adapter: AdapterFile, scale: float
) -> OptimisedCopy:
    """A copy of the model with weights of another type and the adapter in it. Raises ModelError."""
    original = store.path(model_id)
    # Not at the top of the file: gguf takes a tenth of a second to import, and most starts find the copy.
    from edgevox.llm.adapters import check_adapter, merge

    check_adapter(original, adapter.path)
    header = read_header(original)

    def make(original: Path, copy: Path) -> None:
        merged = copy.with_suffix(".merged")
        merge(original, adapter.path, merged, scale=scale)
        requantise(merged, copy, to, threads=plan_threads().llama_prompt)

    return store.keep_optimised(
        model_id,
        Recipe(to, llama_build(), MergedAdapter(adapter.name, adapter.sha256, scale)),
        make,
        about_bytes=copy_bytes(header, "F16") + copy_bytes(header, to),
    )
