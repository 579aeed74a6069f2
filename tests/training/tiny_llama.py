"""A Llama small enough for tests, whose tokens are bytes."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np

BLOCKS, WIDTH, HEADS, KV_HEADS, INNER = 3, 64, 4, 2, 96
_CONTROL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")


def write_tiny_llama(path: Path) -> Path:
    """Write it. Its weights are random, and always the same."""
    random = np.random.default_rng(3)
    words = [*_CONTROL, *_byte_letters(), "Ġt"]
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_block_count(BLOCKS)
    writer.add_context_length(2048)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_rope_freq_base(10_000.0)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(words))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(words)
    writer.add_token_types([gguf.TokenType.CONTROL] * len(_CONTROL) + [gguf.TokenType.NORMAL] * 257)
    writer.add_token_merges(["Ġ t"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_add_bos_token(False)

    def add(name: str, *shape: int) -> None:
        scale = shape[-1] ** -0.5 if len(shape) > 1 else 0.2
        numbers = random.standard_normal(shape, dtype=np.float32) * np.float32(scale)
        writer.add_tensor(f"{name}.weight", numbers if len(shape) > 1 else 1 + numbers)

    key_width = KV_HEADS * WIDTH // HEADS
    add("token_embd", len(words), WIDTH)
    add("output_norm", WIDTH)
    for number in range(BLOCKS):
        block = f"blk.{number}"
        add(f"{block}.attn_norm", WIDTH)
        add(f"{block}.ffn_norm", WIDTH)
        add(f"{block}.attn_q", WIDTH, WIDTH)
        add(f"{block}.attn_k", key_width, WIDTH)
        add(f"{block}.attn_v", key_width, WIDTH)
        add(f"{block}.attn_output", WIDTH, WIDTH)
        add(f"{block}.ffn_gate", INNER, WIDTH)
        add(f"{block}.ffn_up", INNER, WIDTH)
        add(f"{block}.ffn_down", WIDTH, INNER)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _byte_letters() -> list[str]:
    """The letters by which GPT-2 writes bytes: printable ones as they are, others from 256 on."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return [chr(byte) for byte in printable] + [chr(256 + number) for number in range(len(others))]
