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
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from edgevox.stt.adapter import write_adapter
from edgevox.stt.ladder import FULL_WINDOW_S
from edgevox.stt.model_bin import ModelBin
from training.hearing.sound import SILENCE, Clips, Room
from training.hearing.whisper import Whisper, as_tensors, linear_maps, new_adapter

_START = (50258, 50259, 50359)
_END, _NO_TIMES, _FIRST_TIME = 50257, 50363, 50364
_PER_S = 50
_PARTS = 16
_FULL_POSITIONS = 1500
_NOTHING = -100
_STRENGTH = 2.0
LEAST_S = 2.0


@dataclass(frozen=True, slots=True)
class Asked:
    """How one step asks: seconds behind the longest speech, seconds encoded at least, seconds of tail."""

    margin_s: float
    least_s: float
    tail_s: float
    timestamps: bool

    @classmethod
    def drawn(cls, chance: np.random.Generator) -> Asked:
        """Mostly as short as can be; sometimes as without an adapter, and sometimes all 30 s."""
        timestamps = bool(chance.random() < 0.15)
        kind = chance.random()
        if kind < 0.08:
            return cls(0.0, float(FULL_WINDOW_S), 0.0, timestamps)
        if kind < 0.16:
            return cls(0.5, 8.0, 2.0, timestamps)
        tail_s = float(chance.choice((0.0, 0.0, 0.0, 1.0, 2.0)))
        return cls(float(chance.uniform(0.0, 1.2)), LEAST_S, tail_s, timestamps)


def batch_tokens(
    rows: list[dict[str, list[int]]], ends_s: list[float] | None, device: torch.device
) -> tuple[Tensor, Tensor]:
    """What the decoder reads, and what it should say behind each of it; ends are told for timestamps."""
    inputs, targets = [], []
    for number, row in enumerate(rows):
        before = [*row["prompt"], *_START]
        if ends_s is None:
            before, said = [*before, _NO_TIMES], [*row["text"], _END]
        else:
            said = [_FIRST_TIME, *row["text"], _FIRST_TIME + round(ends_s[number] * _PER_S), _END]
        inputs.append(torch.tensor([*before, *said[:-1]]))
        targets.append(torch.tensor([_NOTHING] * (len(before) - 1) + said))
    pad = torch.nn.utils.rnn.pad_sequence
    read = pad(inputs, batch_first=True, padding_value=_END)
    return read.to(device), pad(targets, batch_first=True, padding_value=_NOTHING).to(device)


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
    for value in learnt.values():
        value.requires_grad_(requires_grad=True)
    model = Whisper(weights, learnt, strength=_STRENGTH)
    optimiser = torch.optim.AdamW(learnt.values(), lr=options.rate, betas=(0.9, 0.98), weight_decay=0.0)
    silence = torch.full((1, mel.shape[0], 2 * _FULL_POSITIONS), SILENCE, device=device, dtype=dtype)
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
        asked = Asked.drawn(chance)
        size = options.batch // (6 if asked.least_s == FULL_WINDOW_S else 1)
        which = chance.choice(parts[int(chance.integers(len(parts)))], size=size)
        features, ends_s = room.features(
            torch.from_numpy(which).to(device), margin_s=asked.margin_s, least_s=asked.least_s
        )
        heard = model.encode(features.to(dtype))
        if asked.tail_s:
            with torch.no_grad():
                tail = model.encode(silence)
            at = heard.shape[1]
            tail = tail[:, at : at + round(asked.tail_s * _PER_S)].expand(size, -1, -1)
            heard = torch.cat([heard, tail], dim=1)
        told = [rows[clips.rows[each]] for each in which]
        read, wanted = batch_tokens(told, ends_s.tolist() if asked.timestamps else None, device)
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
        "steps": step,
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
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--rank", type=int, default=32)
    parser.add_argument("--rate", type=float, default=8e-4)
    parser.add_argument("--seed", type=int, default=1)
    learn(parser.parse_args())


if __name__ == "__main__":
    main()
