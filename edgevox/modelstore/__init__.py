"""Models by name: the manifest of what can be had, and the folder of what is there."""

from edgevox.modelstore.disk import size_text
from edgevox.modelstore.lockfile import ProcessorRecord, WeightSpeed
from edgevox.modelstore.manifest import (
    HubSource,
    Manifest,
    ModelEntry,
    ModelFile,
    PackagePart,
    PackageSource,
    load_manifest,
    read_manifest,
)
from edgevox.modelstore.optimised import MergedAdapter, OptimisedCopy, Recipe
from edgevox.modelstore.partial_file import sha256_of
from edgevox.modelstore.progress import (
    BytesReceived,
    FileStored,
    Progress,
    PullEvent,
    PullFinished,
    PullStarted,
    SourceFailed,
    WaitingForOther,
)
from edgevox.modelstore.store import ModelStore, open_store

DEFAULT_MODELS = (
    "smollm2-135m-instruct",
    "edgevox-home-135m",
    "whisper-base",
    "edgevox-hearing-base",
    "piper-en_US-joe-medium",
)

__all__ = [
    "DEFAULT_MODELS",
    "BytesReceived",
    "FileStored",
    "HubSource",
    "Manifest",
    "MergedAdapter",
    "ModelEntry",
    "ModelFile",
    "ModelStore",
    "OptimisedCopy",
    "PackagePart",
    "PackageSource",
    "ProcessorRecord",
    "Progress",
    "PullEvent",
    "PullFinished",
    "PullStarted",
    "Recipe",
    "SourceFailed",
    "WaitingForOther",
    "WeightSpeed",
    "load_manifest",
    "open_store",
    "read_manifest",
    "sha256_of",
    "size_text",
]
