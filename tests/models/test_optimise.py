"""Which models are copied automatically, and which file is then used."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgevox.core.errors import ModelError, ModelMissing
from edgevox.core.platform import processor_name
from edgevox.models import HubSource, Manifest, ModelEntry, ModelFile, ModelStore, ProcessorRecord, Recipe, WeightSpeed
from edgevox.models.gguf_file import GgufHeader, TensorInfo, llama_build
from edgevox.models.optimise import (
    DEFAULT_SPEEDS,
    ModelFiles,
    WeightType,
    adapter_file,
    assess_copy,
    assess_merged_copy,
    known_speeds,
    main_type,
    model_files,
    optimise_on_first_use,
    weight_speeds,
)
from tests.models.conftest import sha256

ARM = DEFAULT_SPEEDS
# A processor that computes fastest with 16 bits.
F16_FIRST = ARM | {"F16": WeightSpeed(batch_tokens_s=900, single_tokens_s=90)}
WORDS, WIDTH, LAYERS = 10_000, 576, 30


def header(
    weights: WeightType, words: WeightType = WeightType.Q8_0, *, layers: int = LAYERS, output: bool = False
) -> GgufHeader:
    """A model with one matrix a layer, a table of words, and an output of its own where it has one."""
    tensors = [
        TensorInfo("token_embd.weight", (WORDS, WIDTH), words, 0),
        TensorInfo("output_norm.weight", (WIDTH,), WeightType.F32, 0),
    ]
    tensors += [TensorInfo(f"blk.{n}.ffn_up.weight", (4 * WIDTH, WIDTH), weights, 0) for n in range(layers)]
    if output:
        tensors.append(TensorInfo("output.weight", (WORDS, WIDTH), WeightType.Q8_0, 0))
    return GgufHeader(3, {}, 0, b"", tuple(tensors), 32, 0)


@pytest.mark.parametrize("weights", ["Q4_1", "Q5_0", "Q5_1", "F16", "BF16", "F32"])
def test_weights_that_are_slow_here_and_lose_nothing_are_copied(weights: str) -> None:
    assert assess_copy(header(WeightType[weights]), ARM).target == "Q8_0"


def test_a_copy_says_how_much_faster_it_was_measured() -> None:
    assert assess_copy(header(WeightType.Q4_1), ARM).reason == "Q8_0 is 2.6 times as fast as Q4_1 on this processor"


@pytest.mark.parametrize("weights", ["Q4_0", "Q8_0", "Q4_K", "IQ4_NL", "MXFP4", "Q2_K"])
def test_weights_that_are_fast_or_would_grow_too_much_are_left_alone(weights: str) -> None:
    assert assess_copy(header(WeightType[weights]), ARM).target is None


def test_the_type_of_a_copy_is_the_one_that_is_fastest_here() -> None:
    assert assess_copy(header(WeightType.Q4_1), F16_FIRST).target == "F16"
    assert assess_copy(header(WeightType.F16), F16_FIRST).target is None
    # A model whose weights fit in 400 MB with 8 bits each, and not with 16.
    assert assess_copy(header(WeightType.Q4_1, layers=200), F16_FIRST).target == "Q8_0"


def test_an_adapter_is_merged_whatever_the_type_of_the_model() -> None:
    for weights in (WeightType.Q4_1, WeightType.Q4_K, WeightType.Q8_0):
        assert assess_merged_copy(header(weights), ARM).target == "Q8_0"
    assert assess_merged_copy(header(WeightType.Q4_1, layers=300), ARM).target is None


def test_a_big_model_is_not_copied_automatically() -> None:
    verdict = assess_copy(header(WeightType.Q4_1, layers=300), ARM)
    assert verdict.target is None
    assert "GB" in verdict.reason or "MB" in verdict.reason


def test_embeddings_count_only_as_output() -> None:
    few_layers = 3  # the table has more weights than the layers together
    assert assess_copy(header(WeightType.Q8_0, WeightType.F16, layers=few_layers), ARM).target == "Q8_0"
    assert assess_copy(header(WeightType.Q8_0, WeightType.F16, layers=few_layers, output=True), ARM).target is None
    assert main_type(header(WeightType.Q4_1)) == "Q4_1"


# --- which file is used

MODEL, ADAPTER = b"a model", b"an adapter"


def entry(model_id: str, content: bytes, base: str | None = None) -> ModelEntry:
    source = HubSource(kind="hub", repo="some/repo", file="x.gguf")
    file = ModelFile(name=f"{model_id}.gguf", bytes=len(content), sha256=sha256(content), sources=(source,))
    return ModelEntry(id=model_id, kind="adapter" if base else "llm", base=base, licence="MIT", files=(file,))


@pytest.fixture
def small_store(tmp_path: Path) -> ModelStore:
    """A model, an adapter for it and one for another model."""
    entries = (entry("base", MODEL), entry("lora", ADAPTER, "base"), entry("stray", ADAPTER, "other"))
    for each in entries:
        (tmp_path / each.id).mkdir()
        (tmp_path / each.id / each.files[0].name).write_bytes(MODEL if each.id == "base" else ADAPTER)
    return ModelStore(tmp_path, Manifest(models=entries))


PLAIN = Recipe(type="Q8_0", made_by="llama 1")


def keep(store: ModelStore, recipe: Recipe = PLAIN) -> Path:
    return store.keep_optimised("base", recipe, lambda _, copy: _write(copy), about_bytes=1).path


def _write(path: Path) -> None:
    path.write_bytes(b"a copy")


def chosen(store: ModelStore, adapter: str | None = None, scale: float = 1.0, *, optimised: bool = True) -> ModelFiles:
    return model_files(store, "base", adapter=adapter, adapter_scale=scale, optimised=optimised)


def test_the_copy_is_used_unless_it_is_switched_off(small_store: ModelStore) -> None:
    original = small_store.path("base")
    assert chosen(small_store) == ModelFiles(original)
    copy = keep(small_store)
    assert chosen(small_store) == ModelFiles(copy)
    assert chosen(small_store, optimised=False) == ModelFiles(original)


def test_an_adapter_is_applied_at_run_time_until_it_is_merged(small_store: ModelStore) -> None:
    original, adapter = small_store.path("base"), small_store.path("lora")
    assert chosen(small_store, "lora", 0.5) == ModelFiles(original, adapter, 0.5)
    plain = keep(small_store)
    assert chosen(small_store, "lora", 0.5) == ModelFiles(plain, adapter, 0.5)
    recipe = Recipe(type="Q8_0", made_by="llama 1", adapter="lora", adapter_sha256=sha256(ADAPTER), adapter_scale=0.5)
    merged = keep(small_store, recipe)
    assert chosen(small_store, "lora", 0.5) == ModelFiles(merged)
    assert chosen(small_store, "lora", 1.0) == ModelFiles(plain, adapter, 1.0)
    assert chosen(small_store) == ModelFiles(plain)
    assert chosen(small_store, "lora", 0.5, optimised=False) == ModelFiles(original, adapter, 0.5)


def test_an_adapter_for_another_model_is_refused(small_store: ModelStore) -> None:
    with pytest.raises(ModelError, match="stray is for other, so base cannot take it"):
        chosen(small_store, "stray")
    with pytest.raises(ModelError, match="stray is for other"):
        adapter_file(small_store, "base", "stray", lambda _: None)
    with pytest.raises(ModelError, match="base is not an adapter"):
        chosen(small_store, "base")


def test_an_adapter_is_found_by_its_id_or_as_a_file(small_store: ModelStore, tmp_path: Path) -> None:
    by_id = adapter_file(small_store, "base", "lora", lambda _: None)
    assert (by_id.id, by_id.path, by_id.sha256) == ("lora", small_store.path("lora"), sha256(ADAPTER))
    (tmp_path / "mine.gguf").write_bytes(ADAPTER)
    by_name = adapter_file(small_store, "base", str(tmp_path / "mine.gguf"), lambda _: None)
    assert (by_name.id, by_name.name, by_name.sha256) == (None, "mine", sha256(ADAPTER))
    with pytest.raises(ModelMissing, match="neither a file nor an adapter"):
        adapter_file(small_store, "base", "nothing", lambda _: None)


# --- what was measured on this processor


def measured(store: ModelStore, build: str) -> None:
    store.keep_processor(processor_name(), ProcessorRecord(llama_build=build, speeds=F16_FIRST))


def test_types_are_measured_once_per_processor_and_build(small_store: ModelStore) -> None:
    assert known_speeds(small_store) is None
    measured(small_store, "another build")
    assert known_speeds(small_store) is None
    measured(small_store, llama_build())
    reread = ModelStore(small_store.folder, small_store.manifest)
    assert weight_speeds(reread, lambda _: pytest.fail("it is known")) == F16_FIRST


@pytest.mark.engine
def test_a_measurement_on_this_processor_covers_every_type_and_is_kept(small_store: ModelStore) -> None:
    told: list[str] = []
    speeds = weight_speeds(small_store, told.append)
    assert len(told) == 1
    assert speeds.keys() == DEFAULT_SPEEDS.keys()
    assert all(speed.batch_tokens_s > speed.single_tokens_s > 0 for speed in speeds.values())
    record = known_speeds(small_store)
    assert record is not None
    assert dict(record.speeds) == speeds


def test_a_measurement_that_fails_leaves_the_default_table(
    small_store: ModelStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", "/nonexistent/python")
    assert weight_speeds(small_store, lambda _: None) == DEFAULT_SPEEDS
    assert known_speeds(small_store) is None


def test_what_is_no_model_is_an_error_that_can_be_told(small_store: ModelStore) -> None:
    with pytest.raises(ModelError, match="not a complete GGUF file"):
        optimise_on_first_use(small_store, "base", lambda _: None)
    measured(small_store, llama_build())
    keep(small_store)
    optimise_on_first_use(small_store, "base", lambda _: pytest.fail("it is there already"))
