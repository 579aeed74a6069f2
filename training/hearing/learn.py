"""Learns a LoRA adapter for Whisper: `python -m training.hearing.learn --help`.

Each step hears other clips in other rooms, all of about the same length. The decoder is asked as the product
asks it: the home's names before, the window a little longer than the speech. It learns to see the end there,
without timestamps and without a tail of silence, and does not forget the longer windows.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from edgevox.stt.adapter import read_adapter, write_adapter
from edgevox.stt.model_bin import ModelBin
from training.hearing.sound import Clips, Room
from training.hearing.whisper import Whisper, as_tensors, linear_maps, new_adapter

# English, as it is said, without timestamps.
_START = (50258, 50259, 50359, 50363)
_END = 50257
_NOTHING = -100
_STRENGTH = 2.0
_PARTS = 16
# The window behind the longest speech of a step, and the least of it; sometimes it is all 30 s.
_MARGIN_S, _LEAST_S = (0.0, 1.2), 2.0
_FULL_SHARE, _FULL_S = 0.08, 30.0


def batch_tokens(rows: list[dict[str, list[int]]], device: torch.device) -> tuple[Tensor, Tensor]:
    """What the decoder reads, and what it should say behind each of it."""
    inputs, targets = [], []
    for row in rows:
        before, said = [*row["prompt"], *_START], [*row["text"], _END]
        inputs.append(torch.tensor([*before, *said[:-1]]))
        targets.append(torch.tensor([_NOTHING] * (len(before) - 1) + said))
    pad = torch.nn.utils.rnn.pad_sequence
    read = pad(inputs, batch_first=True, padding_value=_END)
    return read.to(device), pad(targets, batch_first=True, padding_value=_NOTHING).to(device)


def _known(adapter: Path, device: torch.device) -> dict[str, Tensor]:
    """What was learnt before, as strong as that file says."""
    alpha, factors = read_adapter(adapter)
    known: dict[str, Tensor] = {}
    for name, (a, b) in factors.items():
        whole = name.removesuffix("/weight")
        known[f"{whole}.a"] = torch.from_numpy(a).to(device)
        known[f"{whole}.b"] = torch.from_numpy(b * (alpha / len(a) / _STRENGTH)).to(device)
    return known


def learn(options: argparse.Namespace) -> None:
    began_s = time.monotonic()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    torch.manual_seed(options.seed)
    torch.set_float32_matmul_precision("high")
    weights = as_tensors(ModelBin.read(options.model / "model.bin").variables, dtype=dtype, device=device)
    rows = [json.loads(line) for line in options.rows.read_text(encoding="utf-8").splitlines()]
    clips = Clips.read(options.clips, device)
    mel = torch.from_numpy(np.load(options.mel)).to(device, torch.float32)
    room = Room(clips, mel, seed=options.seed)
    learnt = new_adapter(weights, options.rank, seed=options.seed)
    if options.start:
        learnt |= _known(options.start, device)
    for value in learnt.values():
        value.requires_grad_(requires_grad=True)
    model = Whisper(weights, learnt, strength=_STRENGTH)
    optimiser = torch.optim.AdamW(learnt.values(), lr=options.rate, betas=(0.9, 0.98), weight_decay=0.0)
    chance = np.random.default_rng(options.seed)
    parts = clips.by_length(min(_PARTS, len(clips.rows)))
    print(f"{len(clips.rows)} clips, {len(clips.samples) / 16000 / 3600:.1f} hours", flush=True)
    step, losses = 0, []
    while True:
        spent_s = time.monotonic() - began_s
        done = spent_s / options.seconds if options.seconds else step / options.steps
        if done >= 1:
            break
        rate = options.rate * min(1.0, (step + 1) / 50) * 0.5 * (1 + math.cos(math.pi * done))
        for group in optimiser.param_groups:
            group["lr"] = rate
        is_full = chance.random() < _FULL_SHARE
        which = chance.choice(
            parts[int(chance.integers(len(parts)))], size=options.batch // (6 if is_full else 1)
        )
        features = room.features(
            torch.from_numpy(which).to(device),
            margin_s=chance.uniform(*_MARGIN_S),
            least_s=_FULL_S if is_full else _LEAST_S,
        )
        heard = model.encode(features.to(dtype))
        read, wanted = batch_tokens([rows[clips.rows[each]] for each in which], device)
        known = model.decode(read, heard)
        counts = wanted != _NOTHING
        loss = functional.cross_entropy(model.logits(known[counts]).float(), wanted[counts])
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learnt.values(), 1.0)
        optimiser.step()
        step += 1
        if step % 20 == 0 or step == 1:
            losses.append((step, round(loss.item(), 4)))
            print(f"{time.monotonic() - began_s:6.1f} s, step {step}: {loss.item():.4f}", flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    kept = {name: value.detach().half().cpu().numpy() for name, value in learnt.items()}
    factors = {f"{name}/weight": (kept[f"{name}.a"], kept[f"{name}.b"]) for name in linear_maps(weights)}
    write_adapter(options.out / "adapter.gguf", factors, alpha=_STRENGTH * options.rank)
    record = {
        "seed": options.seed, "rank": options.rank, "rate": options.rate, "batch": options.batch,
        "steps": step, "start": options.start and options.start.name,
        "seconds": round(time.monotonic() - began_s), "clips": len(clips.rows),
        "device": torch.cuda.get_device_name() if device.type == "cuda" else "cpu", "losses": losses,
    }  # fmt: skip
    (options.out / "hearing.json").write_text(json.dumps(record) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.hearing.learn", description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--mel", type=Path, required=True)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--clips", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--start", type=Path, help="an adapter of the same rank to go on from")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--rank", type=int, default=32)
    parser.add_argument("--rate", type=float, default=8e-4)
    parser.add_argument("--seed", type=int, default=1)
    learn(parser.parse_args())


if __name__ == "__main__":
    main()
