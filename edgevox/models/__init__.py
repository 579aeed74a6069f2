"""The model store: the manifest, the folder of downloaded models, and tools for GGUF files."""

from __future__ import annotations

from edgevox.models.download import BytesReceived, Progress, PullEvent, PullMessage, sha256_of, size_text
from edgevox.models.lockfile import OptimisedCopy, ProcessorRecord, Recipe, WeightSpeed
from edgevox.models.manifest import (
    HubSource,
    Manifest,
    ModelEntry,
    ModelFile,
    PackagePart,
    PackageSource,
    load_manifest,
    read_manifest,
)
from edgevox.models.store import ModelStore, open_store

__all__ = [
    "DEFAULT_MODELS",
    "BytesReceived",
    "HubSource",
    "Manifest",
    "ModelEntry",
    "ModelFile",
    "ModelStore",
    "OptimisedCopy",
    "PackagePart",
    "PackageSource",
    "ProcessorRecord",
    "Progress",
    "PullEvent",
    "PullMessage",
    "Recipe",
    "WeightSpeed",
    "load_manifest",
    "open_store",
    "read_manifest",
    "sha256_of",
    "size_text",
]


DEFAULT_MODELS = (
    "smollm2-135m-instruct",
    "edgevox-home-135m",
    "whisper-base",
    "edgevox-hearing-base",
    "hibari-en_US-heart",
)
