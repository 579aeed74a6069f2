"""Small LoRA adapters, built by the test, and model output with and without them."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from pathlib import Path

import gguf
import llama_cpp
import numpy as np
from numpy.typing import NDArray

RANK = 4
ALPHA = 8.0
# Shapes (rows, columns) of weights of SmolLM2-135M.
SMOLLM2_WEIGHTS: Mapping[str, tuple[int, int]] = {
    "blk.3.attn_q.weight": (576, 576),
    "blk.12.ffn_down.weight": (576, 1536),
    "blk.20.attn_v.weight": (192, 576),
    "blk.29.ffn_up.weight": (1536, 576),
}
_PROMPT = b"The capital of France is a city that many people would like to visit in spring."


def write_adapter(
    path: Path,
    weights: Mapping[str, tuple[int, int]] = SMOLLM2_WEIGHTS,
    *,
    architecture: str = "llama",
    kind: str = "lora",
) -> Path:
    """A random adapter that changes the named weights of these shapes."""
    random = np.random.default_rng(5)
    writer = gguf.GGUFWriter(str(path), architecture)
    writer.add_type("adapter")
    writer.add_string("adapter.type", kind)
    writer.add_float32("adapter.lora.alpha", ALPHA)
    for name, (rows, columns) in weights.items():
        a = random.standard_normal((RANK, columns), dtype=np.float32) * 0.1
        b = random.standard_normal((rows, RANK), dtype=np.float32) * 0.1
        writer.add_tensor(f"{name}.lora_a", a)
        writer.add_tensor(f"{name}.lora_b", b)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def write_as_f16(source: Path, target: Path) -> Path:
    """The model with weights that llama.cpp multiplies exactly enough to compare two ways of computing."""
    params = llama_cpp.llama_model_quantize_default_params()
    params.ftype, params.allow_requantize, params.nthread = llama_cpp.LLAMA_FTYPE_MOSTLY_F16, True, 2
    assert not llama_cpp.llama_model_quantize(str(source).encode(), str(target).encode(), ctypes.byref(params))
    return target


def logits(model_path: Path, adapter: Path | None = None, scale: float = 1.0) -> NDArray[np.float32]:
    """What llama.cpp says comes after a prompt, with the adapter applied at run time where one is given."""
    model = llama_cpp.llama_model_load_from_file(str(model_path).encode(), llama_cpp.llama_model_default_params())
    assert model
    params = llama_cpp.llama_context_default_params()
    params.n_ctx, params.n_threads, params.n_threads_batch = 64, 2, 2
    context = llama_cpp.llama_init_from_model(model, params)
    if adapter:
        lora = llama_cpp.llama_adapter_lora_init(model, str(adapter).encode())
        assert lora
        loras = (ctypes.c_void_p * 1)(ctypes.cast(lora, ctypes.c_void_p).value)
        assert (
            llama_cpp.llama_set_adapters_lora(
                context,
                ctypes.cast(loras, ctypes.POINTER(llama_cpp.llama_adapter_lora_p_ctypes)),
                1,
                (ctypes.c_float * 1)(scale),
            )
            == 0
        )
    vocab = llama_cpp.llama_model_get_vocab(model)
    tokens = (llama_cpp.llama_token * 64)()
    count = llama_cpp.llama_tokenize(vocab, _PROMPT, len(_PROMPT), tokens, 64, True, False)
    assert llama_cpp.llama_decode(context, llama_cpp.llama_batch_get_one(tokens, count)) == 0
    words = llama_cpp.llama_vocab_n_tokens(vocab)
    last = np.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(context, -1), shape=(words,))
    found = np.array(last)
    llama_cpp.llama_free(context)
    llama_cpp.llama_model_free(model)
    return found
