"""Optimised copies in the models folder: next to the original, complete or absent, and never stale."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from edgevox.core.errors import ChecksumMismatch, ModelDownloadFailed, ModelError, ModelMissing
from edgevox.models import ModelStore, Recipe
from tests.hub_server import HubServer
from tests.models.conftest import CONTENT, MANIFEST_TEXT, NAME, REPO, sha256

OpenStore = Callable[..., ModelStore]
PLAIN = Recipe(type="Q8_0", made_by="llama 1")
ADAPTED = Recipe(type="Q8_0", made_by="llama 1", adapter="polite", adapter_sha256="a" * 64, adapter_scale=0.5)
COPY_NAME = "tiny.optimised-Q8_0.gguf"
LIMIT_S = 60

KEEP = """
import sys
from pathlib import Path
from edgevox.models import ModelStore, Recipe, read_manifest
def make(original, copy):
    print("making", flush=True)
    sys.stdin.readline()
    copy.write_bytes(b"copied by another process")
class Telling(ModelStore):
    def _locked(self, model_id, progress):
        print("looked", flush=True)
        return super()._locked(model_id, progress)
store = Telling(Path(sys.argv[1]), read_manifest(Path(sys.argv[2])))
print(store.keep_optimised("tiny", Recipe(type="Q8_0", made_by="llama 1"), make, about_bytes=1).path.name, flush=True)
"""


def reverse(original: Path, copy: Path) -> None:
    copy.write_bytes(original.read_bytes()[::-1])


def files(store: ModelStore) -> list[str]:
    """Every file of the store but its locks."""
    paths = (path for path in store.folder.rglob("*") if path.is_file() and path.suffix != ".lock")
    return sorted(str(path.relative_to(store.folder)) for path in paths)


@pytest.fixture
def tiny(hub_store: ModelStore) -> ModelStore:
    hub_store.pull("tiny")
    return hub_store


def test_a_copy_is_kept_beside_the_original_with_all_that_made_it(tiny: ModelStore, open_hub_store: OpenStore) -> None:
    assert tiny.optimised("tiny") is None
    made = tiny.keep_optimised("tiny", PLAIN, reverse, about_bytes=1)
    assert made.path.read_bytes() == CONTENT[::-1]
    assert made.record.source_sha256 == sha256(CONTENT)
    assert made.record.sha256 == sha256(CONTENT[::-1])
    assert (made.record.type, made.record.made_by) == ("Q8_0", "llama 1")
    assert open_hub_store().optimised("tiny") == made
    assert open_hub_store().path("tiny").read_bytes() == CONTENT
    assert files(tiny) == ["lock.json", f"tiny/{NAME}", f"tiny/{COPY_NAME}"]


def test_a_copy_with_an_adapter_is_never_taken_for_a_plain_one(tiny: ModelStore) -> None:
    adapted = tiny.keep_optimised("tiny", ADAPTED, reverse, about_bytes=1)
    assert tiny.optimised("tiny") is None
    assert tiny.optimised("tiny", adapter_sha256="a" * 64, adapter_scale=0.5) == adapted
    assert tiny.optimised("tiny", adapter_sha256="a" * 64, adapter_scale=1.0) is None
    assert tiny.optimised("tiny", adapter_sha256="b" * 64, adapter_scale=0.5) is None
    tiny.keep_optimised("tiny", PLAIN, reverse, about_bytes=1)
    assert len(tiny.optimised_copies("tiny")) == 2


def test_a_copy_of_another_type_takes_the_place_of_the_older_one(tiny: ModelStore) -> None:
    old = tiny.keep_optimised("tiny", Recipe(type="Q4_0", made_by="llama 1"), reverse, about_bytes=1)
    adapted = tiny.keep_optimised("tiny", ADAPTED, reverse, about_bytes=1)
    new = tiny.keep_optimised("tiny", PLAIN, reverse, about_bytes=1)
    assert not old.path.exists()
    assert set(tiny.optimised_copies("tiny")) == {adapted, new}


@pytest.mark.parametrize("error", [ModelError("llama.cpp stopped"), KeyboardInterrupt(), OSError(28, "full")])
def test_a_copy_that_could_not_be_finished_leaves_nothing(tiny: ModelStore, error: BaseException) -> None:
    def stop_half_way(_original: Path, copy: Path) -> None:
        copy.write_bytes(b"half")
        raise error

    before = files(tiny)
    with pytest.raises((ModelError, KeyboardInterrupt)):
        tiny.keep_optimised("tiny", PLAIN, stop_half_way, about_bytes=1)
    assert tiny.optimised("tiny") is None
    assert files(tiny) == before


def test_a_full_disk_is_reported_before_writing(tiny: ModelStore) -> None:
    with pytest.raises(ModelDownloadFailed, match="is full"):
        tiny.keep_optimised("tiny", PLAIN, reverse, about_bytes=10**18)
    assert tiny.optimised("tiny") is None


def test_a_copy_of_a_file_that_was_replaced_is_not_used(
    tiny: ModelStore, hub_server: HubServer, open_hub_store: OpenStore
) -> None:
    tiny.keep_optimised("tiny", PLAIN, reverse, about_bytes=1)
    tiny.path("tiny").unlink()
    tiny.forget("tiny")
    hub_server.files[f"{REPO}/{NAME}"] = CONTENT[::-1]
    store = open_hub_store()
    store.pull("tiny")
    assert store.optimised("tiny") is None


def test_a_copy_of_the_wrong_size_is_not_used(tiny: ModelStore) -> None:
    made = tiny.keep_optimised("tiny", PLAIN, reverse, about_bytes=1)
    made.path.write_bytes(b"cut")
    assert tiny.optimised("tiny") is None


def test_verify_finds_a_changed_copy_and_optimize_makes_it_again(tiny: ModelStore) -> None:
    made = tiny.keep_optimised("tiny", PLAIN, reverse, about_bytes=1)
    tiny.verify("tiny")
    made.path.write_bytes(CONTENT)
    with pytest.raises(ChecksumMismatch, match="the optimised copy") as caught:
        tiny.verify("tiny")
    assert "edgevox models optimize tiny" in caught.value.hint
    tiny.keep_optimised("tiny", PLAIN, reverse, about_bytes=1)
    tiny.verify("tiny")


def test_remove_deletes_the_copies_too(tiny: ModelStore) -> None:
    tiny.keep_optimised("tiny", PLAIN, reverse, about_bytes=1)
    tiny.remove("tiny")
    assert files(tiny) == ["lock.json"]
    assert json.loads((tiny.folder / "lock.json").read_text())["optimised"] == {}


def test_a_copy_can_be_discarded(tiny: ModelStore) -> None:
    made = tiny.keep_optimised("tiny", PLAIN, reverse, about_bytes=1)
    tiny.discard_optimised("tiny", made)
    assert tiny.optimised("tiny") is None
    assert files(tiny) == ["lock.json", f"tiny/{NAME}"]


def test_a_model_that_is_not_there_has_no_copy(hub_store: ModelStore) -> None:
    assert hub_store.optimised("tiny") is None
    with pytest.raises(ModelMissing):
        hub_store.keep_optimised("tiny", PLAIN, reverse, about_bytes=1)


def test_a_file_of_unknown_origin_is_not_copied(hub_store: ModelStore) -> None:
    (hub_store.folder / "tiny").mkdir(parents=True)
    (hub_store.folder / "tiny" / NAME).write_bytes(CONTENT)
    with pytest.raises(ModelError, match="no digest"):
        hub_store.keep_optimised("tiny", PLAIN, reverse, about_bytes=1)


def keeper(store: ModelStore, tmp_path: Path) -> subprocess.Popen[str]:
    """Another process that makes the same copy, and stops in the middle until it gets a line.

    It has looked which copies there are, and has not found this one.
    """
    (tmp_path / "manifest.toml").write_text(MANIFEST_TEXT)
    process = subprocess.Popen(
        [sys.executable, "-c", KEEP, str(store.folder), str(tmp_path / "manifest.toml")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "looked\n"
    return process


def test_the_second_of_two_processes_waits_and_takes_the_copy_of_the_first(tiny: ModelStore, tmp_path: Path) -> None:
    first = keeper(tiny, tmp_path)
    assert first.stdout is not None
    assert first.stdout.readline() == "making\n"
    second = keeper(tiny, tmp_path)
    first.communicate("go on\n", timeout=LIMIT_S)
    output, _ = second.communicate(timeout=LIMIT_S)
    assert output == f"{COPY_NAME}\n"  # it did not make one
    copy = tiny.optimised("tiny")
    assert copy is not None
    assert copy.path.read_bytes() == b"copied by another process"


def test_leftovers_of_a_killed_process_are_deleted(tiny: ModelStore, tmp_path: Path) -> None:
    killed = keeper(tiny, tmp_path)
    assert killed.stdout is not None
    assert killed.stdout.readline() == "making\n"
    killed.kill()
    killed.communicate(timeout=LIMIT_S)
    assert tiny.optimised("tiny") is None
    made = tiny.keep_optimised("tiny", PLAIN, reverse, about_bytes=1)
    assert files(tiny) == ["lock.json", f"tiny/{NAME}", f"tiny/{COPY_NAME}"]
    assert made.path.read_bytes() == CONTENT[::-1]
