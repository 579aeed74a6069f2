"""Transcribes utterances with a teacher model: `python -m training.stt.pseudo_labels --help`.

The teacher hears each utterance alone in Whisper's full window. Kept are its transcript and the
probabilities of its likeliest tokens at each position, which the student learns to predict in a short
window. The teacher is the student's own model before training, or a larger one of the same vocabulary
(whisper-small as ONNX).
"""

from __future__ import annotations

import argparse
import itertools
import re
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from edgevox.stt.whisper_adapter import ModelBin
from training.stt.whisper import END, RATE_HZ, START, Clips, Whisper, as_tensors, log_mel, skip_cudnn_attention

FULL_S = 30
LIKELIEST = 32
_BATCH = 256
_MOST_TOKENS = 100
_LEAST_MEAN_LOGPROB = -0.7
_MOST_COMPRESSION = 2.2
# By the names of CTranslate2; several are one matrix there.
_ONNX_MAPS = {
    "self_attention/linear_0": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    "self_attention/linear_1": ("self_attn.out_proj",),
    "attention/linear_0": ("encoder_attn.q_proj",),
    "attention/linear_1": ("encoder_attn.k_proj", "encoder_attn.v_proj"),
    "attention/linear_2": ("encoder_attn.out_proj",),
    "ffn/linear_0": ("fc1",),
    "ffn/linear_1": ("fc2",),
}
_ONNX_NORMS = {
    "self_attention/layer_norm": "self_attn_layer_norm",
    "attention/layer_norm": "encoder_attn_layer_norm",
    "ffn/layer_norm": "final_layer_norm",
}


@dataclass(frozen=True, slots=True)
class Targets:
    """For each clip what was written, with its end, and the likeliest tokens at each place."""

    tokens: list[list[int]]
    starts: list[int]
    likeliest: Tensor
    logprobs: Tensor

    @classmethod
    def read(cls, path: Path, device: torch.device) -> Targets:
        with np.load(path) as kept:
            counts, tokens = kept["counts"].tolist(), kept["tokens"].tolist()
            starts = np.cumsum([0, *counts]).tolist()
            said = [tokens[start:end] for start, end in itertools.pairwise(starts)]
            likeliest = torch.from_numpy(kept["likeliest"].astype(np.int64)).to(device)
            return cls(said, starts, likeliest, torch.from_numpy(kept["logprobs"]).to(device).float())


@torch.no_grad()
def pseudo_label(model: Whisper, clips: Clips, mel: Tensor, out: Path, *, dtype: torch.dtype) -> int:
    """Write the targets of all clips; what the teacher doubts, or is known, has none. How many have."""
    counts, tokens, likeliest, logprobs = [0] * len(clips.rows), [], [], []
    unknown = [at for at, row in enumerate(clips.rows) if "text" not in row]
    for which in torch.tensor(unknown, device=mel.device).split(_BATCH):
        samples = clips.plain(which, FULL_S * RATE_HZ)
        heard = model.encode(log_mel(samples, mel).to(dtype))
        written, sure = model.greedy(heard, START, most=_MOST_TOKENS)
        said = [[*row, END] for row in written]
        pad = torch.nn.utils.rnn.pad_sequence
        read = pad([torch.tensor([*START, *row[:-1]]) for row in said], batch_first=True, padding_value=END)
        known = model.decode(read.to(mel.device), model.memory(heard))[:, len(START) - 1 :]
        for at, row, states, mean in zip(which.tolist(), said, known, sure.tolist(), strict=True):
            if mean < _LEAST_MEAN_LOGPROB or len(row) > _MOST_TOKENS or _repeats(row):
                continue
            top = model.logits(states[: len(row)]).float().log_softmax(-1).topk(LIKELIEST)
            counts[at] = len(row)
            tokens += row
            likeliest.append(top.indices.cpu().numpy().astype(np.int32))
            logprobs.append(top.values.half().cpu().numpy())
    np.savez(
        out,
        counts=np.array(counts),
        tokens=np.array(tokens),
        likeliest=np.concatenate(likeliest),
        logprobs=np.concatenate(logprobs),
    )
    return sum(count > 0 for count in counts)


def _repeats(tokens: list[int]) -> bool:
    raw = " ".join(map(str, tokens)).encode()
    return len(tokens) > 16 and len(raw) / len(zlib.compress(raw)) > _MOST_COMPRESSION


def read_weights(folder: Path) -> dict[str, NDArray[np.generic]]:
    """The weights of a CTranslate2 model, or of a quantised ONNX one, by CTranslate2's names."""
    if (folder / "model.bin").exists():
        return dict(ModelBin.read(folder / "model.bin").variables)
    return _from_onnx(folder / "encoder_model_quantized.onnx", "encoder") | _from_onnx(
        folder / "decoder_model_merged_quantized.onnx", "decoder"
    )


def _from_onnx(path: Path, part: str) -> dict[str, NDArray[np.generic]]:
    # Not at the top of the file: the student's own model needs none of it.
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(str(path)).graph
    numbers = {kept.name: numpy_helper.to_array(kept) for kept in graph.initializer}
    nodes = [*graph.node]
    for node in graph.node:
        nodes += [inner for attribute in node.attribute for inner in attribute.g.node]
    found: dict[str, NDArray[np.generic]] = {}

    def wide(name: str) -> NDArray[np.float32]:
        stem = name.removesuffix("_quantized")
        zero, scale = numbers[f"{stem}_zero_point"], numbers[f"{stem}_scale"]
        return np.asarray((numbers[name].astype(np.float32) - zero.astype(np.float32)) * scale)

    for name, value in numbers.items():
        plain = re.sub(r"^model\.decoder\.|_merged_0", "", name)
        if plain.endswith("_quantized") and not plain.startswith("onnx::"):
            found[plain.removesuffix("_quantized")] = wide(name)
        elif value.dtype == np.float32 and value.ndim:
            found[plain] = value
    for node in nodes:
        if node.op_type == "MatMulInteger" and (match := re.search(r"(layers\.\d+)/(.+)/MatMul", node.name)):
            found[f"{match[1]}.{match[2].replace('/', '.')}.weight"] = wide(node.input[1]).T
    return _renamed(found, part)


def _renamed(found: dict[str, NDArray[np.generic]], part: str) -> dict[str, NDArray[np.generic]]:
    named: dict[str, NDArray[np.generic]] = {
        f"{part}/position_encodings/encodings": found["embed_positions.weight"],
        f"{part}/layer_norm/gamma": found["layer_norm.weight"],
        f"{part}/layer_norm/beta": found["layer_norm.bias"],
    }
    if part == "decoder":
        named["decoder/embeddings/weight"] = found["embed_tokens.weight"]
    else:
        for conv in ("conv1", "conv2"):
            named |= {f"encoder/{conv}/{end}": found[f"{conv}.{end}"] for end in ("weight", "bias")}
    for layer in range(sum(name.endswith(".fc1.bias") for name in found)):
        for name, maps in _ONNX_MAPS.items():
            whole = [f"layers.{layer}.{each}" for each in maps]
            if f"{whole[0]}.weight" not in found:
                continue
            weights = [found[f"{each}.weight"] for each in whole]
            # Keys have no bias.
            biases = [
                found.get(f"{each}.bias", np.zeros(len(weight), np.float32))
                for each, weight in zip(whole, weights, strict=True)
            ]
            named[f"{part}/layer_{layer}/{name}/weight"] = np.concatenate(weights)
            named[f"{part}/layer_{layer}/{name}/bias"] = np.concatenate(biases)
        for name, norm in _ONNX_NORMS.items():
            if f"layers.{layer}.{norm}.weight" in found:
                named[f"{part}/layer_{layer}/{name}/gamma"] = found[f"layers.{layer}.{norm}.weight"]
                named[f"{part}/layer_{layer}/{name}/beta"] = found[f"layers.{layer}.{norm}.bias"]
    return named


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.stt.pseudo_labels", description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="a folder with model.bin, or with ONNX files")
    parser.add_argument("--mel", type=Path, required=True)
    parser.add_argument("--clips", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, help="an .npz file")
    options = parser.parse_args()
    skip_cudnn_attention()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    model = Whisper(as_tensors(read_weights(options.model), dtype=dtype, device=device), {}, strength=0.0)
    clips = Clips.read(options.clips, device)
    mel = torch.from_numpy(np.load(options.mel)).to(device, torch.float32)
    sure = pseudo_label(model, clips, mel, options.out, dtype=dtype)
    print(f"{sure} of {len(clips.rows)} pieces are written down")


if __name__ == "__main__":
    main()
