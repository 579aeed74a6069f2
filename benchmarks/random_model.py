"""A GGUF file with random weights and as many tokens as wanted, for figures that depend on the vocabulary."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
from gguf import GGUFReader, GGUFWriter, LlamaFileType, TokenType

_WIDTH, _CONTEXT_TOKENS = 64, 4096


def write_random_model(path: Path, like: Path, tokens: int) -> None:
    """One layer, 64 wide. The vocabulary is that of `like`, and joined pairs of its tokens up to `tokens`."""
    reader = GGUFReader(like)
    texts = [str(text) for text in reader.fields["tokenizer.ggml.tokens"].contents()]
    kinds = [int(kind) for kind in reader.fields["tokenizer.ggml.token_type"].contents()]
    merges = [str(merge) for merge in reader.fields["tokenizer.ggml.merges"].contents()]
    known = set(texts)
    words = [text for text, kind in zip(texts, kinds, strict=True) if kind == TokenType.NORMAL][300:5000]
    pairs = (a + b for a, b in itertools.product(words, words))
    for text in itertools.islice((pair for pair in pairs if pair not in known), tokens - len(texts)):
        texts.append(text)
        kinds.append(TokenType.NORMAL)
    writer = GGUFWriter(path, "llama")
    writer.add_context_length(_CONTEXT_TOKENS)
    writer.add_embedding_length(_WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(_WIDTH)
    writer.add_head_count(1)
    writer.add_head_count_kv(1)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(tokens)
    writer.add_file_type(LlamaFileType.MOSTLY_F16)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(str(reader.fields["tokenizer.ggml.pre"].contents()))
    writer.add_token_list(texts)
    writer.add_token_types(kinds)
    writer.add_token_merges(merges)
    for name in ("bos", "eos"):
        identity = int(reader.fields[f"tokenizer.ggml.{name}_token_id"].contents())
        getattr(writer, f"add_{name}_token_id")(identity)
    random = np.random.default_rng(1)
    shapes = {
        "token_embd.weight": (tokens, _WIDTH),
        "output_norm.weight": (_WIDTH,),
        "blk.0.attn_norm.weight": (_WIDTH,),
        "blk.0.ffn_norm.weight": (_WIDTH,),
        **{f"blk.0.attn_{part}.weight": (_WIDTH, _WIDTH) for part in ("q", "k", "v", "output")},
        **{f"blk.0.ffn_{part}.weight": (_WIDTH, _WIDTH) for part in ("gate", "up", "down")},
    }
    for name, shape in shapes.items():
        weights = random.normal(0, 0.3, shape)
        writer.add_tensor(name, weights.astype(np.float32 if len(shape) == 1 else np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
