"""A loaded llama.cpp model: its vocabulary, and the KV cache whose sequences are cut, copied and saved."""

from __future__ import annotations

import copy
import ctypes
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias

import llama_cpp
import numpy as np
from numpy.typing import NDArray

from edgevox.core.errors import ModelError
from edgevox.core.turn import CancelFlag
from edgevox.engines.threads import FreeCoreMonitor

_PIECE_BYTES = 512


class Vocabulary:
    """The vocabulary of a model that stays loaded for as long as this is used."""

    def __init__(self, model: llama_cpp.llama_model_p) -> None:
        self.pointer = llama_cpp.llama_model_get_vocab(model)
        self.size = llama_cpp.llama_vocab_n_tokens(self.pointer)
        self.adds_bos = llama_cpp.llama_vocab_get_add_bos(self.pointer)
        self.bos = llama_cpp.llama_vocab_bos(self.pointer)
        self.eos = llama_cpp.llama_vocab_eos(self.pointer)
        self._buffer = ctypes.create_string_buffer(_PIECE_BYTES)
        self._pieces: dict[int, bytes] = {}

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        """`special`: texts of control tokens become those tokens; otherwise they stay text."""
        data = text.encode("utf-8", errors="replace")
        room = len(data) + 2
        while True:
            tokens = (llama_cpp.llama_token * room)()
            count = llama_cpp.llama_tokenize(
                self.pointer, data, len(data), tokens, room, False, special
            )  # without BOS: the template writes it
            if count >= 0:
                return list(tokens[:count])
            room = -count

    def piece(self, token: int) -> bytes:
        """The bytes of one token, which may be a part of a character. Control tokens give their text."""
        found = self._pieces.get(token)
        if found is None:
            found = self._pieces[token] = self._read_piece(token)
        return found

    def text(self, token: int) -> str:
        """The text of one token; empty where there is no such token."""
        return self.piece(token).decode(errors="replace") if token >= 0 else ""

    def is_end(self, token: int) -> bool:
        """Whether a reply ends with this token."""
        return token in self.end_tokens

    @cached_property
    def end_tokens(self) -> frozenset[int]:
        return frozenset(token for token in range(self.size) if llama_cpp.llama_vocab_is_eog(self.pointer, token))

    @cached_property
    def control_tokens(self) -> dict[int, str]:
        """The tokens that steer the model, with their texts: what a person writes must not become one."""
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

# llama.cpp polls an abort callback between graph nodes. The flag is a C string, empty while the work goes on,
# so the C library's own strlen answers "stop?" without the GIL and without a compiler.
_ABORT_WHEN_SET = ctypes.cast(ctypes.CDLL(None).strlen, llama_cpp.ggml_abort_callback)

_BACKEND = threading.Lock()
_backend_started = False


class Aborted(Exception):
    """The cancel flag was set while the model worked."""


class NoRoom(Exception):
    """The memory holds no more tokens."""


class LlamaContext:
    """A model with one memory for `sequences` sequences, `context_tokens` in all. Raises ModelError."""

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
        """Without `has_own_weights` they are read where the file is mapped: slower, but shared memory."""
        _start_backend()
        self.context_tokens = context_tokens
        self._model = _load_model(model_path, may_repack=has_own_weights)
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
        # Flash attention reads a prompt quicker and everything behind it slower, on two Arm cores: 13 tokens
        # behind 1,450 take 132 ms with it and 77 without, each further one 16 and 15. A prompt is read once.
        has_flash = kv_type != "f16"  # what is quantised cannot be read without it
        parameters.flash_attn_type = _FLASH_ON if has_flash else _FLASH_OFF
        parameters.no_perf = True
        self._parameters = parameters
        self._adapter = self._load_adapter(adapter_path)
        self._adapter_scale = adapter_scale
        self.vocabulary = Vocabulary(self._model)
        # Hybrids and recurrent models keep one state for a whole sequence: it cannot be cut back.
        self.can_cut = not (
            llama_cpp.llama_model_is_recurrent(self._model) or llama_cpp.llama_model_is_hybrid(self._model)
        )
        self._open()

    def beside(self) -> LlamaContext:
        """A second memory for the same model, empty and as large. Raises ModelError.

        What is in one costs the other nothing: attention goes over all cells of a memory, whose ever they
        are. It is for words that no voice speaks, so that they have all cores. This one must not be closed
        before that.
        """
        other = copy.copy(self)
        other._is_model_lent = True
        other._shared_threads = self._prompt_threads
        other._applied_threads = (self._parameters.n_threads, self._parameters.n_threads_batch)
        other._open()
        return other

    def metadata(self, key: str) -> str | None:
        """A value of the GGUF file's header."""
        buffer = ctypes.create_string_buffer(_METADATA_BYTES)
        count = llama_cpp.llama_model_meta_val_str(self._model, key.encode(), buffer, len(buffer))
        return buffer.value.decode(errors="replace") if count >= 0 else None

    def watch(self, cancel: CancelFlag) -> None:
        """Stop evaluating as soon as `cancel` is set. The caller keeps the flag alive while it is watched."""
        llama_cpp.llama_set_abort_callback(self._context, _ABORT_WHEN_SET, ctypes.c_void_p(cancel.address))

    def share_cores(self, *, is_shared: bool) -> None:
        """Whether other engines work at the same time from now on: then fewer threads make the words."""
        self._reply_threads = self._shared_threads if is_shared else self._prompt_threads

    def _yield_busy_cores(self) -> None:
        """Use no more threads than there are cores that nothing else wants."""
        if max(self._reply_threads, self._prompt_threads) == 1:
            return
        free = self._cores.free()
        wanted = (min(self._reply_threads, free), min(self._prompt_threads, free))
        if wanted != self._applied_threads:
            llama_cpp.llama_set_n_threads(self._context, *wanted)
            self._applied_threads = wanted

    def evaluate(self, tokens: Sequence[int], sequence: int, at: int) -> None:
        """Evaluate at most BATCH_TOKENS tokens as one batch; the logits behind the last one are kept.

        Where it fails the sequence is as it was before, if it can be cut.
        Raises Aborted, NoRoom, and ModelError when llama.cpp fails.
        """
        self._yield_busy_cores()
        code = llama_cpp.llama_decode(self._context, self._batch.fill(tokens, sequence, at))
        if code == _DECODED:
            return
        self.cut(sequence, at)
        if code == _NO_ROOM:
            raise NoRoom
        if code == _ABORTED:
            raise Aborted
        raise ModelError(f"llama.cpp stopped with code {code}", hint="try again with less text")

    def log_probabilities(self, sequences: Sequence[Sequence[int]], known_tokens: int) -> list[float] | None:
        """The logarithm of each sequence's probability behind its first tokens, which are the same in all.

        All of them are one batch, in which equal beginnings are evaluated once. Forgets what was in the
        memory. None where they do not fit into a batch. Raises ModelError when llama.cpp fails.
        """
        tree = _TokenTree(sequences)
        if len(sequences) > self._parameters.n_seq_max or len(tree.tokens) > self._parameters.n_batch:
            return None
        self._yield_busy_cores()
        llama_cpp.llama_memory_clear(self._memory, False)
        code = llama_cpp.llama_decode(self._context, self._batch.fill_tree(tree))
        if code != _DECODED:
            raise ModelError(f"llama.cpp stopped with code {code}", hint="try again with less text")
        pointer = llama_cpp.llama_get_logits(self._context)
        logits = np.ctypeslib.as_array(pointer, shape=(len(tree.tokens), self.vocabulary.size))
        # Row by row: all of them at once would be as much memory again.
        totals = [float((top := row.max()) + np.log(np.exp(row - top).sum())) for row in logits]
        return [
            sum(
                float(logits[node, token] - totals[node])
                for node, token in zip(path[known_tokens - 1 :], sequence[known_tokens:], strict=False)
            )
            for path, sequence in zip(tree.paths, sequences, strict=True)
        ]

    def logits(self) -> NDArray[np.float32]:
        """The scores of the next token, in llama.cpp's own array: it may be written to until `evaluate`."""
        pointer = llama_cpp.llama_get_logits_ith(self._context, -1)
        return np.ctypeslib.as_array(pointer, shape=(self.vocabulary.size,))

    # --- sequences

    def cut(self, sequence: int, at: int) -> bool:
        """Forget the tokens of a sequence from `at` on; False where this model's memory cannot do that."""
        return bool(llama_cpp.llama_memory_seq_rm(self._memory, sequence, at, -1))

    def copy(self, source: int, target: int, length: int) -> None:
        """Make the empty sequence `target` begin with the first `length` tokens of `source`."""
        llama_cpp.llama_memory_seq_cp(self._memory, source, target, 0, length)

    def state(self, sequence: int) -> bytes:
        """What the model remembers of a sequence, for `restore`."""
        size = llama_cpp.llama_state_seq_get_size(self._context, sequence)
        buffer = (ctypes.c_uint8 * size)()
        written = llama_cpp.llama_state_seq_get_data(self._context, buffer, size, sequence)
        return bytes(memoryview(buffer)[:written])

    def restore(self, sequence: int, state: bytes) -> bool:
        """Give an empty sequence the state that `state` returned; False where it does not fit.

        llama.cpp trusts these bytes: the caller must know that they are whole and from this very model.
        """
        buffer = (ctypes.c_uint8 * len(state)).from_buffer_copy(state)
        return bool(llama_cpp.llama_state_seq_set_data(self._context, buffer, len(state), sequence))

    def close(self) -> None:
        """Give the memory back."""
        self._batch.close()
        llama_cpp.llama_free(self._context)
        if self._is_model_lent:
            return
        if self._adapter:
            llama_cpp.llama_adapter_lora_free(self._adapter)
        llama_cpp.llama_model_free(self._model)

    def _open(self) -> None:
        """Make the memory, and the adapter part of what works on it."""
        self._context = llama_cpp.llama_init_from_model(self._model, self._parameters)
        if not self._context:
            raise ModelError(
                f"llama.cpp has no memory for {self.context_tokens} tokens of this model",
                hint="a smaller llm.context_tokens needs less memory",
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
                f"{path.name} is no adapter for this model",
                hint="an adapter fits only the model it was trained on; a preset can do without one",
            )
        return adapter


class _TokenTree:
    """Sequences of tokens as a tree: a token that follows the same ones in several of them is there once.

    `paths` has the places of each sequence's tokens but the last, which nothing follows.
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

    def fill(self, tokens: Sequence[int], sequence: int, at: int) -> llama_cpp.llama_batch:
        """One sequence; only the logits behind its last token are wanted."""
        count = len(tokens)
        self._tokens[:count] = tokens
        self._positions[:count] = np.arange(at, at + count, dtype=np.int32)
        self._wanted[:count] = 0
        self._wanted[count - 1] = 1
        self._owner_counts[:count] = 1
        for own in self._owners[:count]:
            own[0] = sequence
        self._batch.n_tokens = count
        return self._batch

    def fill_tree(self, tree: _TokenTree) -> llama_cpp.llama_batch:
        """Several sequences at once, with the logits behind every token."""
        count = len(tree.tokens)
        self._tokens[:count] = tree.tokens
        self._positions[:count] = tree.positions
        self._wanted[:count] = 1
        self._owner_counts[:count] = [len(owners) for owners in tree.owners]
        for own, owners in zip(self._owners, tree.owners, strict=False):
            own[: len(owners)] = owners
        self._batch.n_tokens = count
        return self._batch

    def close(self) -> None:
        llama_cpp.llama_batch_free(self._batch)


def _load_model(path: Path, *, may_repack: bool) -> llama_cpp.llama_model_p:
    parameters = llama_cpp.llama_model_default_params()
    parameters.use_extra_bufts = may_repack
    model = llama_cpp.llama_model_load_from_file(str(path).encode(), parameters)
    if not model:
        raise ModelError(
            f"llama.cpp cannot load {path.name}",
            hint="`edgevox models verify` checks the file; another file or a newer llama-cpp-python may do",
        )
    return model


def _start_backend() -> None:
    global _backend_started
    with _BACKEND:
        if not _backend_started:
            llama_cpp.llama_log_set(_ignore_log, ctypes.c_void_p(0))
            llama_cpp.llama_backend_init()
            _backend_started = True


def _ignore(_level: int, _text: bytes, _user_data: ctypes.c_void_p) -> None:
    """llama.cpp writes pages to standard error; what a user needs to know comes as an error."""


# llama.cpp keeps the pointer: it must live as long as the process.
_ignore_log = llama_cpp.llama_log_callback(_ignore)
