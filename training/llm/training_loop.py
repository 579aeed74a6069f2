"""Trains a LoRA adapter: batches, loss, learning-rate schedule, and the log of the run."""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional
from torch.nn.utils import clip_grad_norm_

from training.llm.adapters import STRENGTH, AdaptedLinear, add_lora, start_from, write_adapter
from training.llm.data_loader import Row, RowWorkers
from training.llm.llama import Llama, Mask, block_mask, dense_mask
from training.llm.settings import Settings


@dataclass(frozen=True, slots=True)
class Batch:
    """Arrays (rows, tokens); `learnt_at` are the places, rows laid end to end, where `targets` come next."""

    tokens: Tensor
    positions: Tensor
    segments: Tensor
    roots: Tensor
    learnt_at: Tensor
    targets: Tensor

    @classmethod
    def of(cls, rows: Sequence[Row], device: torch.device) -> Batch:
        def moved(numbers: Sequence[NDArray[np.int32]]) -> Tensor:
            return torch.from_numpy(np.stack(numbers)).to(device)

        # Found here: a GPU that is asked where they are makes the process wait for it.
        targets = np.concatenate([row.targets for row in rows]).astype(np.int64)
        learnt_at = np.flatnonzero(targets >= 0)
        return cls(
            tokens=moved([row.tokens for row in rows]),
            positions=moved([row.positions for row in rows]),
            segments=moved([row.segments for row in rows]),
            roots=moved([row.roots for row in rows]),
            learnt_at=torch.from_numpy(learnt_at).to(device),
            targets=torch.from_numpy(targets[learnt_at]).to(device),
        )


def mean_loss(model: Llama, batch: Batch, mask: Mask) -> Tensor:
    """The mean over the tokens that are learnt."""
    known = model(batch.tokens, batch.positions, mask).flatten(0, 1)
    return functional.cross_entropy(model.logits(known.index_select(0, batch.learnt_at)), batch.targets)


MaskMaker: TypeAlias = Callable[[Tensor, Tensor], Mask]

_BETAS = (0.9, 0.98)
_WARM_UP_STEPS = 40
_CLIP_NORM = 1.0
_REPORT_STEPS = 20
_MASKS: dict[str, MaskMaker] = {"flex": block_mask, "dense": dense_mask}


@dataclass(slots=True)
class Progress:
    """What has been done so far."""

    settings: Settings
    begun_s: float
    waited_s: float = 0.0
    losses: list[float] = field(default_factory=list)
    filled_tokens: int = 0
    learnt_tokens: int = 0
    used: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def elapsed_s(self) -> float:
        return time.monotonic() - self.begun_s

    def share(self, step: int) -> float:
        """How much of the training lies behind, from 0 to 1."""
        if self.settings.seconds is not None:
            return min(1.0, self.elapsed_s / self.settings.seconds)
        assert self.settings.steps is not None
        return min(1.0, step / self.settings.steps)

    def add(self, rows: Sequence[Row]) -> None:
        for row in rows:
            self.filled_tokens += row.filled_tokens
            self.learnt_tokens += row.learnt_tokens
            self.used += row.used
            self.left_out += row.left_out

    def recent_loss(self) -> float:
        recent = self.losses[-_REPORT_STEPS:]
        return sum(recent) / len(recent) if recent else math.nan


def run_training(settings: Settings, workers: RowWorkers, begun_s: float) -> None:
    """Learn, and write the adapter and its record. Raises EdgevoxError and OSError."""
    progress = Progress(settings, begun_s)
    on_gpu = torch.cuda.is_available()
    device = torch.device("cuda" if on_gpu else "cpu")
    torch.manual_seed(settings.seed)
    model = Llama.from_gguf(settings.base, dtype=torch.bfloat16 if on_gpu else torch.float32, device=device)
    if settings.start is None:
        adapted = add_lora(model, settings.rank, STRENGTH * settings.rank)
    else:
        adapted = start_from(settings.start, model)
    if on_gpu:
        for block in model.blocks:
            block.compile()  # they share one compilation
    learnt = [factor for linear in adapted.values() for factor in (linear.a, linear.b)]
    print(f"loaded in {progress.elapsed_s:.0f} s, {sum(map(torch.numel, learnt)):,} numbers to learn", flush=True)
    mask_maker = _MASKS[settings.attention or ("flex" if on_gpu else "dense")]
    try:
        _descend(model, learnt, mask_maker, workers, progress)
    finally:  # a training that is stopped keeps what it has learnt
        _write(settings, adapted, progress)


def learning_rate(peak: float, step: int, share: float) -> float:
    """A linear warm-up, and half a cosine over the whole training."""
    return peak * min(1.0, (step + 1) / _WARM_UP_STEPS) * (1 + math.cos(math.pi * share)) / 2


def _write(settings: Settings, adapted: Mapping[str, AdaptedLinear], progress: Progress) -> None:
    path, log = settings.out / "adapter.gguf", settings.out / "training.json"
    write_adapter(path, adapted, name="edgevox-home", number_type=settings.number_type)
    log.write_text(json.dumps(_log(settings, progress), indent=1, default=str) + "\n")
    print(f"{path}: {path.stat().st_size:,} bytes; {log} says how it was made")


def _descend(
    model: Llama, learnt: Sequence[Tensor], make_mask: MaskMaker, workers: RowWorkers, progress: Progress
) -> None:
    settings = progress.settings
    optimiser = torch.optim.AdamW(learnt, lr=0.0, betas=_BETAS, weight_decay=0.0, fused=True)
    step = 0
    last: Tensor | None = None
    report = _Reports(progress)
    while (share := progress.share(step)) < 1:
        asked_s = time.monotonic()
        rows = workers.next_step()
        progress.waited_s += time.monotonic() - asked_s
        progress.add(rows)
        batch = Batch.of(rows, learnt[0].device)
        for group in optimiser.param_groups:
            group["lr"] = learning_rate(settings.rate, step, share)
        loss = mean_loss(model, batch, make_mask(batch.segments, batch.roots))
        torch.autograd.backward(loss)
        clip_grad_norm_(learnt, _CLIP_NORM)
        optimiser.step()
        optimiser.zero_grad()
        # Read one step late: the next rows are prepared while the GPU works.
        if last is not None:
            progress.losses.append(last.item())
        last = loss.detach()
        step += 1
        if step == 2 or step % _REPORT_STEPS == 0:
            report.write(step)
    if last is not None:
        progress.losses.append(last.item())
    if step % _REPORT_STEPS:
        report.write(step)


class _Reports:
    """Lines about the progress, with the speed since the line before."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._step, self._examples, self._at_s = 0, 0, progress.elapsed_s

    def write(self, step: int) -> None:
        progress = self._progress
        examples, now_s = progress.used.total(), progress.elapsed_s
        passed_s = now_s - self._at_s
        print(
            f"{now_s:5.0f} s  step {step:5d}  {progress.share(step):4.0%}  "
            f"loss {progress.recent_loss():.4f}  "
            f"{1000 * passed_s / max(1, step - self._step):.0f} ms a step  "
            f"{(examples - self._examples) / passed_s:,.0f} examples/s, {examples:,} in all  "
            f"(waited {progress.waited_s:.1f} s for rows)",
            flush=True,
        )
        self._step, self._examples, self._at_s = step, examples, now_s


def _log(settings: Settings, progress: Progress) -> dict[str, object]:
    steps = len(progress.losses)
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else platform.processor() or platform.machine()
    with settings.base.open("rb") as base:
        base_sha256 = hashlib.file_digest(base, "sha256").hexdigest()
    return {
        "settings": asdict(settings) | {"base": settings.base.name, "out": settings.out.name},
        "base_sha256": base_sha256,
        "hardware": {"device": device, "cores": os.cpu_count(), "torch": torch.__version__},
        "steps": steps,
        "seconds": round(progress.elapsed_s, 1),
        "seconds_waited_for_rows": round(progress.waited_s, 1),
        "examples": progress.used.total(),
        "examples_by_category": dict(progress.used.most_common()),
        "left_out_by_category": dict(progress.left_out.most_common()),
        "learnt_tokens": progress.learnt_tokens,
        "filled": round(progress.filled_tokens / max(1, steps * settings.rows * settings.row_tokens), 3),
        "losses": [round(loss, 4) for loss in progress.losses],
    }
