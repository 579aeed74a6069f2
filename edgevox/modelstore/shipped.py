"""Files that come with EdgeVox itself: copied into the models folder like any other, and checked so."""

from __future__ import annotations

import shutil

from edgevox.data_files import data_path
from edgevox.errors import ConfigError, ModelDownloadFailed
from edgevox.modelstore.fetch import Fetched, Wanted, wrong_checksum
from edgevox.modelstore.manifest import ShippedSource
from edgevox.modelstore.partial_file import sha256_of


def fetch_shipped(wanted: Wanted, source: ShippedSource) -> Fetched:
    """Raises ModelDownloadFailed when this installation lacks the file, and ChecksumMismatch."""
    try:
        original = data_path(*source.path.split("/"))
    except ConfigError as error:
        raise ModelDownloadFailed(error.message, hint=error.hint) from error
    copy = wanted.work / wanted.file.name
    shutil.copyfile(original, copy)
    found = sha256_of(copy)
    if wanted.file.sha256 is not None and found != wanted.file.sha256:
        copy.unlink()
        raise wrong_checksum(wanted, source.label, found, wanted.file.sha256)
    return Fetched(copy, copy.stat().st_size, found)
