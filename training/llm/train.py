"""Trains an adapter: `python -m training.llm.train --base MODEL.gguf --out FOLDER (--seconds N | --steps N)`.

FOLDER gets `adapter.gguf`, for llama.cpp, and `training.json`, which says how it was made.
"""

from __future__ import annotations

import time

from edgevox.core.errors import EdgevoxError
from training.llm.data_loader import RowWorkers, Tokens
from training.llm.settings import Settings, read_settings


def train(settings: Settings) -> None:
    """Train, and write the results. Raises EdgevoxError and OSError."""
    begun_s = time.monotonic()
    settings.out.mkdir(parents=True, exist_ok=True)
    workers = RowWorkers(
        settings.scenes,
        Tokens.from_gguf(settings.base),
        seed=settings.seed,
        rows_a_step=settings.rows,
        row_tokens=settings.row_tokens,
        processes=settings.processes,
    )
    with workers:
        # Not at the top: every process that makes rows reads this file, and PyTorch takes seconds.
        from training.llm.training_loop import run_training

        run_training(settings, workers, begun_s)


def main() -> None:
    try:
        train(read_settings(description=__doc__))
    except EdgevoxError as error:
        raise SystemExit(f"{error}\n  → {error.hint}") from error


if __name__ == "__main__":
    main()
