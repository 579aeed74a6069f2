"""A loaded llama.cpp model: its vocabulary, and the KV cache whose sequences are cut, copied and saved."""

from __future__ import annotations

import copy
import ctypes
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Literal, TypeAlias

import llama_cpp
import numpy as np
from numpy.typing import NDArray

from edgevox.core.errors import ModelError
from edgevox.core.turn import CancelFlag
from edgevox.engines.threads import FreeCoreMonitor
from edgevox.models.speed import may_repack

_PIECE_BYTES = 512


class Vocabulary:
    """The vocabulary of a model that must stay loaded while this is used."""

    def __init__(self, model: llama_cpp.llama_model_p) -> None:
        self.pointer = llama_cpp.llama_model_get_vocab(model)
        self.size = llama_cpp.llama_vocab_n_tokens(self.pointer)
        self.adds_bos = llama_cpp.llama_vocab_get_add_bos(self.pointer)
        self.bos = llama_cpp.llama_vocab_bos(self.pointer)
        self.eos = llama_cpp.llama_vocab_eos(self.pointer)
        self._buffer = ctypes.create_string_buffer(_PIECE_BYTES)
        self._pieces: dict[int, bytes] = {}

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        """With `special`, the texts of control tokens become those tokens; otherwise they stay text."""
        data = text.encode("utf-8", errors="replace")
        count = -len(data) - 2
        while count < 0:
            tokens = (llama_cpp.llama_token * -count)()
            # Without BOS: the template writes it.
            count = llama_cpp.llama_tokenize(self.pointer, data, len(data), tokens, len(tokens), False, special)
        return list(tokens[:count])

    def piece(self, token: int) -> bytes:
        """Return the bytes of a token, possibly a part of a character. Control tokens give their text."""
        found = self._pieces.get(token)
        if found is None:
            found = self._pieces[token] = self._read_piece(token)
        return found

    def text(self, token: int) -> str:
        """Return the text of a token, or "" for an invalid one."""
        return self.piece(token).decode(errors="replace") if token >= 0 else ""

    @cached_property
    def longest_piece(self) -> int:
        """Return the most bytes that one token stands for."""
        return max(map(len, self.all_pieces()))

    @cached_property
    def end_tokens(self) -> frozenset[int]:
        """Return the tokens that end a reply."""
        return frozenset(token for token in range(self.size) if llama_cpp.llama_vocab_is_eog(self.pointer, token))

    @cached_property
    def control_tokens(self) -> dict[int, str]:
        """Return the control tokens with their texts; user text must not become one of them."""
        return {
            token: text
            for token in range(self.size)
            if llama_cpp.llama_vocab_is_control(self.pointer, token) and (text := self.text(token))
        }

    def all_pieces(self) -> list[bytes]:
        return [self._read_piece(token) for token in range(self.size)]

    def _read_piece(self, token: int) -> bytes:
        buffer = self._buffer
        count = llama_cpp.llama_token_to_piece(self.pointer, token, buffer, len(buffer), 0, True)
        if count < 0:
            buffer = ctypes.create_string_buffer(-count)
            count = llama_cpp.llama_token_to_piece(self.pointer, token, buffer, len(buffer), 0, True)
        return buffer.raw[:count]


KvType: TypeAlias = Literal["f16", "q8_0"]

BATCH_TOKENS = 512

_KV_TYPES = {"f16": llama_cpp.GGML_TYPE_F16, "q8_0": llama_cpp.GGML_TYPE_Q8_0}
_FLASH_OFF, _FLASH_ON = llama_cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED, llama_cpp.LLAMA_FLASH_ATTN_TYPE_ENABLED
_DECODED, _NO_ROOM, _ABORTED = 0, 1, 2
_METADATA_BYTES = 1 << 20

# llama.cpp polls an abort callback between graph nodes. The flag is a C string, empty until cancelled, so the C
# library's own strlen answers "stop?" without the GIL and without a compiler.
_ABORT_WHEN_SET = ctypes.cast(ctypes.CDLL(None).strlen, llama_cpp.ggml_abort_callback)


class Aborted(Exception):
    """The cancel flag was set during evaluation."""


class KvCacheFull(Exception):
    """The KV cache is full."""


class LlamaContext:
    """A model with one KV cache of `context_tokens` cells, shared by `sequences` sequences. Raises ModelError."""

    def __init__(
        self,
        model_path: Path,
        *,
        context_tokens: int,
        threads: int,
        prompt_threads: int,
        sequences: int = 1,
        kv_type: KvType = "f16",
        adapter_path: Path | None = None,
        adapter_scale: float = 1.0,
        has_own_weights: bool = True,
    ) -> None:
        """Without `has_own_weights` the weights are memory-mapped: slower, but shared."""
        _start_backend()
        self.context_tokens = context_tokens
        self._model = _load_model(model_path, has_own_weights=has_own_weights)
        self._is_model_lent = False
        self._prompt_threads = prompt_threads
        self._shared_threads = threads
        self._reply_threads = threads
        self._applied_threads = (threads, prompt_threads)
        self._cores = FreeCoreMonitor()
        parameters = llama_cpp.llama_context_default_params()
        parameters.n_ctx = context_tokens
        parameters.n_batch = parameters.n_ubatch = min(BATCH_TOKENS, context_tokens)
        parameters.n_seq_max = sequences
        parameters.kv_unified = True  # sequences share cells: a copied prefix takes no memory
        parameters.n_threads = threads
        parameters.n_threads_batch = prompt_threads
        parameters.type_k = parameters.type_v = _KV_TYPES[kv_type]
        # Flash attention evaluates a prompt faster and everything after it slower, on two Arm cores: 13 tokens behind
        # 1,450 take 132 ms with it and 77 without, each further one 16 and 15. A prompt is evaluated once.
        has_flash = kv_type != "f16"  # a quantised KV cache requires it
        parameters.flash_attn_type = _FLASH_ON if has_flash else _FLASH_OFF
        parameters.no_perf = True
        self._parameters = parameters
        self._adapter = self._load_adapter(adapter_path)
        self._adapter_scale = adapter_scale
        self.vocabulary = Vocabulary(self._model)
        # Hybrid and recurrent models keep one state for a whole sequence: it cannot be cut back.
        self.can_cut = not (
            llama_cpp.llama_model_is_recurrent(self._model) or llama_cpp.llama_model_is_hybrid(self._model)
        )
        self._open()

    def fork(self) -> LlamaContext:
        """Return a second, empty context of the same size for the same model. Raises ModelError.

        Attention runs over all cells of a context, so separate ones do not slow each other down. The fork uses all
        cores, since its text is not spoken. Close it before this one.
        """
        other = copy.copy(self)
        other._is_model_lent = True
        other._shared_threads = self._prompt_threads
        other._applied_threads = (self._parameters.n_threads, self._parameters.n_threads_batch)
        other._open()
        return other

    def metadata(self, key: str) -> str | None:
        """Return a value of the GGUF header."""
        buffer = ctypes.create_string_buffer(_METADATA_BYTES)
        count = llama_cpp.llama_model_meta_val_str(self._model, key.encode(), buffer, len(buffer))
        return buffer.value.decode(errors="replace") if count >= 0 else None

    def watch(self, cancel: CancelFlag) -> None:
        """Abort evaluation when `cancel` is set. The caller keeps the flag alive meanwhile."""
        llama_cpp.llama_set_abort_callback(self._context, _ABORT_WHEN_SET, ctypes.c_void_p(cancel.address))

    def share_cores(self, *, is_shared: bool) -> None:
        """Set whether other engines run at the same time; generation then uses fewer threads."""
        self._reply_threads = self._shared_threads if is_shared else self._prompt_threads

    def _yield_busy_cores(self) -> None:
        """Use no more threads than there are free cores."""
        if max(self._reply_threads, self._prompt_threads) == 1:
            return
        free = self._cores.free()
        wanted = (min(self._reply_threads, free), min(self._prompt_threads, free))
        if wanted != self._applied_threads:
            llama_cpp.llama_set_n_threads(self._context, *wanted)
            self._applied_threads = wanted

    def evaluate(self, tokens: Sequence[int], sequence: int, at: int) -> None:
        """Evaluate at most BATCH_TOKENS tokens as one batch; the logits of the last one are kept.

        On failure the sequence is restored, if it can be cut. Raises Aborted, KvCacheFull, and ModelError if llama.cpp
        fails.
        """
        self._yield_busy_cores()
        positions = range(at, at + len(tokens))
        batch = self._batch.fill(
            tokens, positions, [(sequence,)] * len(tokens), wanted=slice(len(tokens) - 1, len(tokens))
        )
        code = llama_cpp.llama_decode(self._context, batch)
        if code == _DECODED:
            return
        self.cut(sequence, at)
        if code == _NO_ROOM:
            raise KvCacheFull
        if code == _ABORTED:
            raise Aborted
        raise ModelError(f"llama.cpp stopped with code {code}", hint="try again with less text")

    def log_probabilities(self, sequences: Sequence[Sequence[int]], known_tokens: int) -> list[float] | None:
        """Return the log probability of each sequence given its first tokens, which all sequences share.

        Runs as one batch in which common prefixes are evaluated once. Clears the KV cache. Returns None if they do not
        fit a batch. Raises ModelError if llama.cpp fails.
        """
        tree = _TokenTree(sequences)
        if len(sequences) > self._parameters.n_seq_max or len(tree.tokens) > self._parameters.n_batch:
            return None
        self._yield_busy_cores()
        llama_cpp.llama_memory_clear(self._memory, False)
        batch = self._batch.fill(tree.tokens, tree.positions, tree.owners, wanted=slice(len(tree.tokens)))
        code = llama_cpp.llama_decode(self._context, batch)
        if code != _DECODED:
            raise ModelError(f"llama.cpp stopped with code {code}", hint="try again with less text")
        pointer = llama_cpp.llama_get_logits(self._context)
        logits = np.ctypeslib.as_array(pointer, shape=(len(tree.tokens), self.vocabulary.size))
        # Row by row: all at once would double the memory.
        totals = [float((top := row.max()) + np.log(np.exp(row - top).sum())) for row in logits]
        return [
            sum(
                float(logits[node, token] - totals[node])
                for node, token in zip(path[known_tokens - 1 :], sequence[known_tokens:], strict=False)
            )
            for path, sequence in zip(tree.paths, sequences, strict=True)
        ]

    def logits(self) -> NDArray[np.float32]:
        """Return the logits of the next token in llama.cpp's own array, writable until `evaluate`."""
        pointer = llama_cpp.llama_get_logits_ith(self._context, -1)
        return np.ctypeslib.as_array(pointer, shape=(self.vocabulary.size,))

    # --- sequences

    def cut(self, sequence: int, at: int) -> bool:
        """Remove the tokens of a sequence from `at` on; return False if this model cannot do that."""
        return bool(llama_cpp.llama_memory_seq_rm(self._memory, sequence, at, -1))

    def copy(self, source: int, target: int, length: int) -> None:
        """Copy the first `length` tokens of `source` to the empty sequence `target`."""
        llama_cpp.llama_memory_seq_cp(self._memory, source, target, 0, length)

    def state(self, sequence: int) -> bytes:
        """Return the state of a sequence, for `restore`."""
        size = llama_cpp.llama_state_seq_get_size(self._context, sequence)
        buffer = (ctypes.c_uint8 * size)()
        written = llama_cpp.llama_state_seq_get_data(self._context, buffer, size, sequence)
        return bytes(memoryview(buffer)[:written])

    def restore(self, sequence: int, state: bytes) -> bool:
        """Load a state into an empty sequence; return False if it does not fit.

        llama.cpp trusts these bytes: they must be complete and from this very model.
        """
        buffer = (ctypes.c_uint8 * len(state)).from_buffer_copy(state)
        return bool(llama_cpp.llama_state_seq_set_data(self._context, buffer, len(state), sequence))

    def close(self) -> None:
        """Free the context."""
        self._batch.close()
        llama_cpp.llama_free(self._context)
        if self._is_model_lent:
            return
        if self._adapter:
            llama_cpp.llama_adapter_lora_free(self._adapter)
        llama_cpp.llama_model_free(self._model)

    def _open(self) -> None:
        """Create the context and attach the adapter."""
        self._context = llama_cpp.llama_init_from_model(self._model, self._parameters)
        if not self._context:
            raise ModelError(
                f"not enough memory for {self.context_tokens} tokens of this model", hint="lower llm.context_tokens"
            )
        self._memory = llama_cpp.llama_get_memory(self._context)
        self._batch = _Batch(self._parameters.n_batch, self._parameters.n_seq_max)
        if self._adapter:
            llama_cpp.llama_set_adapters_lora(
                self._context,
                (llama_cpp.llama_adapter_lora_p_ctypes * 1)(self._adapter),
                1,
                (ctypes.c_float * 1)(self._adapter_scale),
            )

    def _load_adapter(self, path: Path | None) -> llama_cpp.llama_adapter_lora_p | None:
        if path is None:
            return None
        adapter = llama_cpp.llama_adapter_lora_init(self._model, str(path).encode())
        if not adapter:
            raise ModelError(
                f"{path.name} is not an adapter for this model",
                hint="an adapter fits only the model it was trained on; choose a preset without it",
            )
        return adapter


class _TokenTree:
    """Token sequences as a tree: common prefixes are stored once.

    `paths` has the positions of each sequence's tokens except the last.
    """

    def __init__(self, sequences: Sequence[Sequence[int]]) -> None:
        self.tokens: list[int] = []
        self.positions: list[int] = []
        self.owners: list[list[int]] = []
        self.paths: list[list[int]] = []
        children: dict[tuple[int, int], int] = {}
        for number, sequence in enumerate(sequences):
            path: list[int] = []
            for position, token in enumerate(sequence[:-1]):
                step = (path[-1] if path else -1, token)
                if step not in children:
                    children[step] = len(self.tokens)
                    self.tokens.append(token)
                    self.positions.append(position)
                    self.owners.append([])
                path.append(children[step])
                self.owners[path[-1]].append(number)
            self.paths.append(path)


class _Batch:
    """llama.cpp's batch, allocated once and filled through numpy."""

    def __init__(self, size: int, sequences: int) -> None:
        self._batch = llama_cpp.llama_batch_init(size, 0, sequences)
        self._tokens = np.ctypeslib.as_array(self._batch.token, shape=(size,))
        self._positions = np.ctypeslib.as_array(self._batch.pos, shape=(size,))
        self._wanted = np.ctypeslib.as_array(self._batch.logits, shape=(size,))
        self._owner_counts = np.ctypeslib.as_array(self._batch.n_seq_id, shape=(size,))
        self._owners = [np.ctypeslib.as_array(self._batch.seq_id[i], shape=(sequences,)) for i in range(size)]

    def fill(
        self, tokens: Sequence[int], positions: Sequence[int], owners: Sequence[Sequence[int]], *, wanted: slice
    ) -> llama_cpp.llama_batch:
        """Fill in tokens, each with the sequences that own it; the logits of `wanted` are computed."""
        count = len(tokens)
        self._tokens[:count] = tokens
        self._positions[:count] = positions
        self._wanted[:count] = 0
        self._wanted[wanted] = 1
        self._owner_counts[:count] = [len(sequences) for sequences in owners]
        for own, sequences in zip(self._owners, owners, strict=False):
            own[: len(sequences)] = sequences
        self._batch.n_tokens = count
        return self._batch

    def close(self) -> None:
        llama_cpp.llama_batch_free(self._batch)


def _load_model(path: Path, *, has_own_weights: bool) -> llama_cpp.llama_model_p:
    parameters = llama_cpp.llama_model_default_params()
    parameters.use_extra_bufts = has_own_weights and may_repack(llama_cpp)
    model = llama_cpp.llama_model_load_from_file(str(path).encode(), parameters)
    if not model:
        raise ModelError(
            f"llama.cpp cannot load {path.name}",
            hint="`edgevox models verify` checks the file; another file or a newer llama-cpp-python may work",
        )
    return model


@cache
def _start_backend() -> None:
    llama_cpp.llama_log_set(_ignore_log, ctypes.c_void_p(0))
    llama_cpp.llama_backend_init()


# Discards llama.cpp's output on standard error; failures are reported as errors. llama.cpp keeps the pointer.
_ignore_log = llama_cpp.llama_log_callback(lambda _level, _text, _user_data: None)
