"""Embeds texts with all-MiniLM-L6-v2 on onnxruntime; it is made for English."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from edgevox.core.errors import ContextOverflow
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Embedding, EmbedRequest

MODEL_ID = "all-minilm-l6-v2"
DIMENSIONS = 384
MAX_TOKENS = 256
"""The longest text; the model has learnt from no longer ones."""


class MiniLmEngine:
    """Embeds the texts of a request one by one. `folder` has the model and its tokenizer."""

    def __init__(self, folder: Path, *, threads: int = 1) -> None:
        self._folder = folder
        self._threads = threads
        self._session: Any = None
        self._tokenizer: Any = None

    def load(self) -> None:
        """Load both; the model store has checked the files."""
        # Imported late: only the process of this engine loads them.
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        model, tokenizer = self._folder / "model.onnx", self._folder / "tokenizer.json"
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def run(self, request: EmbedRequest, cancel: CancelFlag) -> Iterator[Embedding]:
        """Yield the embedding of each text. Raises ContextOverflow for a text that is too long."""
        for text in request.texts:
            if cancel.is_set():
                return
            ids = self._tokenizer.encode(text).ids
            if len(ids) > MAX_TOKENS:
                if not request.truncate:
                    raise ContextOverflow(f"a text is too large: {len(ids)} tokens, the model reads {MAX_TOKENS}")
                ids = [*ids[: MAX_TOKENS - 1], ids[-1]]
            yield Embedding(self._embed(ids), len(ids))

    def _embed(self, ids: list[int]) -> np.typing.NDArray[np.float32]:
        """Return the mean of the tokens' states, at length 1."""
        row = np.array([ids], dtype=np.int64)
        inputs = {"input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": np.zeros_like(row)}
        (states,) = self._session.run(None, inputs)
        mean = states[0].mean(axis=0)
        return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-12), dtype=np.float32)
