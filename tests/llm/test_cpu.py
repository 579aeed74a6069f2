"""Which types are repacked: what the table says is what llama.cpp does on the machine that runs the test."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import gguf
import numpy as np
import pytest

from edgevox.llm.cpu import WeightType, cpu_features, features_in, repacked_types

ARM = frozenset({"NEON", "DOTPROD", "REPACK"})
LIMIT_S = 120
# llama_ftype of each; a model of one layer with every weight in that type.
FILE_TYPES = {
    WeightType.F16: 1,
    WeightType.Q4_0: 2,
    WeightType.Q4_1: 3,
    WeightType.Q5_0: 8,
    WeightType.Q5_1: 9,
    WeightType.Q8_0: 7,
    WeightType.Q4_K: 15,
    WeightType.Q5_K: 17,
    WeightType.Q6_K: 18,
}
# In a process of its own: what llama.cpp logs while it loads goes to standard error.
LOAD = """
import ctypes, sys
import llama_cpp
source, target, file_type = sys.argv[1].encode(), sys.argv[2].encode(), int(sys.argv[3])
params = llama_cpp.llama_model_quantize_default_params()
params.ftype, params.pure, params.nthread = file_type, True, 1
assert llama_cpp.llama_model_quantize(source, target, ctypes.byref(params)) == 0
assert llama_cpp.llama_model_load_from_file(target, llama_cpp.llama_model_default_params())
"""


@pytest.fixture(scope="module")
def one_layer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model without words, whose rows all types can hold (256 columns)."""
    path = tmp_path_factory.mktemp("one-layer") / "f32.gguf"
    random = np.random.default_rng(1)
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_tokenizer_model("no_vocab")
    writer.add_vocab_size(256)
    writer.add_context_length(64)
    writer.add_embedding_length(256)
    writer.add_feed_forward_length(256)
    writer.add_block_count(1)
    writer.add_head_count(4)
    writer.add_head_count_kv(4)
    writer.add_layer_norm_rms_eps(1e-5)
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(256, dtype=np.float32))
    attention = [f"blk.0.attn_{part}" for part in ("q", "k", "v", "output")]
    feed_forward = [f"blk.0.ffn_{part}" for part in ("gate", "up", "down")]
    for name in ("token_embd", "output", *attention, *feed_forward):
        writer.add_tensor(f"{name}.weight", random.standard_normal((256, 256), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.mark.engine
@pytest.mark.skipif(not repacked_types(), reason="this processor has not been measured: nothing is claimed")
@pytest.mark.parametrize("weight_type", FILE_TYPES, ids=lambda weight_type: weight_type.name)
def test_the_types_that_llama_cpp_repacks_here_are_those_of_the_table(
    one_layer: Path, tmp_path: Path, weight_type: WeightType
) -> None:
    arguments = [str(one_layer), str(tmp_path / "model.gguf"), str(FILE_TYPES[weight_type])]
    loading = subprocess.run(
        [sys.executable, "-c", LOAD, *arguments], capture_output=True, text=True, timeout=LIMIT_S, check=True
    )
    is_repacked = "CPU_REPACK model buffer size" in loading.stderr
    assert is_repacked == (weight_type in repacked_types())


def test_llama_cpp_says_what_it_was_built_for() -> None:
    assert cpu_features()


def test_features_are_read_from_the_words_of_llama_cpp() -> None:
    assert features_in("CPU : NEON = 1 | SVE = 0 | DOTPROD = 1 | REPACK = 1 | ") == ARM


@pytest.mark.parametrize("missing", sorted(ARM))
def test_nothing_is_claimed_of_a_processor_that_was_not_measured(missing: str) -> None:
    assert WeightType.Q8_0 in repacked_types(ARM)
    assert repacked_types(ARM - {missing}) == frozenset()
    assert repacked_types(frozenset({"AVX2", "REPACK"})) == frozenset()
