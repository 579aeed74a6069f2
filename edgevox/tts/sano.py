"""sano voices: networks of half a million to 1.6 million weights, distilled from Piper voices, for six languages.

A voice has two files, `front_q8.bin` (durations, and a spectrum-like latent) and `dec_q8.bin` beside it (the
waveform). The front is small enough for numpy; the decoder is written as an ONNX graph and run by onnxruntime. The
networks are those of github.com/Ampixa/sanoTTS; none of its code is used.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from edgevox.core.errors import ModelError, ModelMissing
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio, SynthesisRequest
from edgevox.tts.onnx_graph import Model, WrittenGraph
from edgevox.tts.pieces import MAX_PIECE_PHONEMES, PROBE, clamped_speed, level_gain, pieces, text_pieces

if TYPE_CHECKING:  # the child process does without the settings
    from edgevox.tts.engines import TtsContext
    from edgevox.tts.espeak import EspeakPhonemizer
    from edgevox.tts.vits import StopSwitch

Floats: TypeAlias = NDArray[np.float32]

DECODER_FILE = "dec_q8.bin"
_RATE_HZ = 22_050
_PAUSE_S = 0.25
# Words before the table of tensors, the number of tensors last.
_FRONT_WORDS, _DECODER_WORDS = 18, 12
_FRONT_MAGIC, _DECODER_MAGIC, _PACKED_MAGIC = b"RFNS", b"LPNS", b"SNT8"
# Phonemes that a voice has not learnt are read as a schwa.
_SCHWA_ID = 59


@dataclass(frozen=True, slots=True)
class PackedFile:
    """The header of a file, and its tensors in order, without their shapes."""

    header: tuple[int, ...]
    tensors: tuple[Floats, ...]

    @classmethod
    def read(cls, path: Path, begin: bytes, words: int) -> PackedFile:
        """Raises OSError, and ValueError for a file of another kind."""
        content = path.read_bytes()
        if not content.startswith(begin):
            raise ValueError(f"{path.name} is no part of a sano voice")
        try:
            header = struct.unpack_from(f"<{words}i", content)
            table = struct.unpack_from(f"<{2 * header[-1]}i", content, 4 * words)
            head = 4 * (words + 2 * header[-1])
            magic, block, blocks, count = struct.unpack_from("<4sHII", content, head)
            if magic != _PACKED_MAGIC:
                raise ValueError(f"{path.name} is no packed voice")
            packed = np.dtype([("scale", "<f2"), ("values", "i1", (block,))])
            rows = np.frombuffer(content, packed, blocks, head + 14)
        except struct.error as err:
            raise ValueError(f"{path.name} is cut off") from err
        weights = (rows["scale"].astype(np.float32)[:, None] * rows["values"]).ravel()[:count]
        places = zip(table[::2], table[1::2], strict=True)
        return cls(header, tuple(weights[start : start + size] for start, size in places))


class SanoEngine:
    """Voices by language; `voice_path` is for all other languages. Their phonemes are espeak's (GPL)."""

    def __init__(
        self, voice_path: Path, language: str, *, others: Mapping[str, Path] | None = None, threads: int = 1
    ) -> None:
        self.voice_path = voice_path
        self.language = language
        self.others = dict(others or {})
        self.threads = threads
        self._switch: StopSwitch | None = None
        self._loaded: dict[str, _Voice] = {}

    def load(self) -> None:
        """Load the first voice; the others are loaded on first use. Raises ModelMissing or ModelError."""
        for path in (self.voice_path, *self.others.values()):
            for file in (path, path.with_name(DECODER_FILE)):
                if not file.is_file():
                    raise ModelMissing(f"there is no voice file {file}", hint="edgevox models pull fetches it")
        # Imported late: only the TTS process may load GPL code and onnxruntime.
        from edgevox.tts.vits import StopSwitch

        self._switch = StopSwitch()
        self._voice(self.language)

    def run(self, request: SynthesisRequest, cancel: CancelFlag) -> Iterator[Audio]:
        """Synthesize one sentence; a text without a letter or a digit gives nothing.

        Raises ModelError if the engine is not loaded, or the voice of the language cannot be loaded.
        """
        if self._switch is None:
            raise ModelError("the voice is not loaded", hint="call load() before run()")
        from edgevox.tts.vits import RunStopped

        voice = self._voice(request.language if request.language in self.others else self.language)
        speed = clamped_speed(request.speed)
        with self._switch.thrown_by(cancel), suppress(RunStopped):
            is_first = True
            for ids in voice.phoneme_ids(request.text, int(MAX_PIECE_PHONEMES * min(speed, 1.0))):
                if cancel.is_set():
                    return
                audio = Audio(voice.sound(ids, speed), _RATE_HZ).amplified(voice.gain)
                if cancel.is_set():
                    return
                audio = audio.with_trailing_silence(_PAUSE_S)
                yield audio.without_leading_silence() if is_first else audio
                is_first = False

    def _voice(self, language: str) -> _Voice:
        voice = self._loaded.get(language)
        if voice is None:
            assert self._switch is not None
            from edgevox.tts.espeak import EspeakPhonemizer
            from edgevox.tts.vits import ONNX_ERRORS

            path = self.others.get(language, self.voice_path)
            unusable: tuple[type[Exception], ...] = (*ONNX_ERRORS, OSError, ValueError, LookupError)
            try:
                voice = _Voice(path, EspeakPhonemizer(language), self.threads, self._switch)
            except unusable as err:
                reason = str(err).strip().splitlines()
                raise ModelError(
                    f"the voice file {path} cannot be used: {reason[0] if reason else type(err).__name__}",
                    hint="edgevox models verify finds damaged files, edgevox models pull fetches them again",
                ) from err
            self._loaded[language] = voice
        return voice


class _Voice:
    """A loaded voice. Raises ONNX_ERRORS, OSError, ValueError and LookupError where its files are unusable."""

    def __init__(self, path: Path, phonemizer: EspeakPhonemizer, threads: int, switch: StopSwitch) -> None:
        from edgevox.tts.vits import StoppableSession

        self._phonemizer = phonemizer
        self._durations, self._latent = read_front(PackedFile.read(path, _FRONT_MAGIC, _FRONT_WORDS))
        decoder = decoder_graph(PackedFile.read(path.with_name(DECODER_FILE), _DECODER_MAGIC, _DECODER_WORDS))
        self._decoder = StoppableSession(decoder, threads=threads, switch=switch)
        self.gain = level_gain(np.concatenate([self.sound(ids, 1.0) for ids in self.phoneme_ids(PROBE)]))

    def phoneme_ids(self, text: str, longest: int = MAX_PIECE_PHONEMES) -> Iterator[NDArray[np.int64]]:
        from edgevox.tts.espeak import piper_ids

        for piece in text_pieces(text):
            for sentence in self._phonemizer.sentences(piece):
                for phonemes in pieces(sentence, longest):
                    if any(phoneme.isalpha() for phoneme in phonemes):
                        yield np.array(piper_ids(phonemes), np.int64)

    def sound(self, ids: NDArray[np.int64], speed: float) -> Floats:
        """Raises RunStopped and ONNX_ERRORS."""
        latent = self._latent.of(ids, self._durations.of(ids, 1 / speed))
        made: Floats = self._decoder.run({"latent": latent[None]})[0].ravel()
        return made


# --- the front: convolutions over phonemes, and over frames


@dataclass(frozen=True, slots=True)
class _Stack:
    """A projection of one frame, and residual blocks of two convolutions over neighbouring ones."""

    weight: Floats
    bias: Floats
    blocks: tuple[tuple[float, Floats, Floats, Floats, Floats], ...]

    def of(self, frames: Floats) -> Floats:
        """Of an array of channels by frames."""
        x = self.weight @ frames + self.bias[:, None]
        for scale, weight, bias, weight2, bias2 in self.blocks:
            hidden = _convolved(x, weight, bias)
            x = x + scale * _convolved(hidden / (1 + np.exp(-hidden)), weight2, bias2)
        return x


def _convolved(x: Floats, weight: Floats, bias: Floats) -> Floats:
    """A convolution with zeros beyond both ends; `weight` is outputs by inputs by kernel."""
    reach, frames = weight.shape[2] // 2, x.shape[1]
    padded = np.pad(x, ((0, 0), (reach, reach)))
    made: Floats = bias[:, None] + sum(
        weight[:, :, place] @ padded[:, place : place + frames] for place in range(weight.shape[2])
    )
    return made


@dataclass(frozen=True, slots=True)
class Durations:
    """Predicts how many frames each phoneme lasts."""

    embedding: Floats
    stack: _Stack
    weight: Floats
    bias: Floats
    most_tokens: int
    most_frames: int

    def of(self, ids: NDArray[np.int64], stretch: float) -> NDArray[np.int64]:
        count = len(ids)
        hints = np.stack([_ramp(count), np.full(count, np.log1p(count) / np.log1p(self.most_tokens)), np.ones(count)])
        x = self.stack.of(np.concatenate([_embedded(self.embedding, ids), hints.astype(np.float32)]))
        frames = np.maximum(np.exp((self.weight @ x + self.bias[:, None])[0]), 1.0)
        whole: NDArray[np.int64] = np.clip(np.round(frames * stretch), 1, self.most_frames).astype(np.int64)
        return whole


@dataclass(frozen=True, slots=True)
class Latent:
    """Predicts the decoder's input, frame by frame."""

    embedding: Floats
    tokens: _Stack
    frames: _Stack
    weight: Floats
    bias: Floats

    def of(self, ids: NDArray[np.int64], durations: NDArray[np.int64]) -> Floats:
        lasting = np.log1p(durations) / np.log1p(max(int(durations.max()), 1))
        hints = np.stack([_ramp(len(ids)), lasting]).astype(np.float32)
        tokens = self.tokens.of(np.concatenate([_embedded(self.embedding, ids), hints]))
        places = [
            _ramp(int(durations.sum())),
            np.repeat(_ramp(len(ids)), durations),
            np.concatenate([_ramp(int(each)) for each in durations]),
        ]
        hinted = np.concatenate([np.repeat(tokens, durations, axis=1), np.stack(places).astype(np.float32)])
        made: Floats = self.weight @ self.frames.of(hinted) + self.bias[:, None]
        return made.astype(np.float32)


def _ramp(count: int) -> NDArray[np.float64]:
    """From 0 to 1."""
    return np.linspace(0.0, 1.0, count) if count > 1 else np.zeros(count)


def _embedded(embedding: Floats, ids: NDArray[np.int64]) -> Floats:
    return embedding[np.where(ids < len(embedding), ids, _SCHWA_ID)].T


def read_front(file: PackedFile) -> tuple[Durations, Latent]:
    """The two networks of a front file. Raises ValueError and LookupError if it is none."""
    _, version, vocab, hidden, depth, kernel, most_tokens, most_frames, *acoustic = file.header
    vocab2, hidden2, token_depth, frame_depth, kernel2, channels, adapter = acoustic[:7]
    if version != 1 or adapter != 0:
        raise ValueError("it has a version or an adapter that is not known")
    rest = iter(file.tensors)
    durations = Durations(
        next(rest).reshape(vocab, hidden),
        _stack(rest, hidden, 3, depth, kernel),
        next(rest).reshape(1, hidden),
        next(rest),
        most_tokens,
        most_frames,
    )
    latent = Latent(
        next(rest).reshape(vocab2, hidden2),
        _stack(rest, hidden2, 2, token_depth, kernel2),
        _stack(rest, hidden2, 3, frame_depth, kernel2),
        next(rest).reshape(channels, hidden2),
        next(rest),
    )
    return durations, latent


def _stack(rest: Iterator[Floats], size: int, hints: int, depth: int, kernel: int) -> _Stack:
    weight, bias = next(rest).reshape(size, size + hints), next(rest)
    shape = (size, size, kernel)
    blocks = tuple(
        (float(next(rest)[0]), next(rest).reshape(shape), next(rest), next(rest).reshape(shape), next(rest))
        for _ in range(depth)
    )
    return _Stack(weight, bias, blocks)


# --- the decoder: a small HiFi-GAN

_SLOPE, _LAST_SLOPE = 0.1, 0.01
_UPSAMPLING = ((16, 8), (16, 8), (8, 4))
# Kernel, and the dilations of the two convolutions of each branch.
_BRANCHES = ((3, 1, 2), (5, 2, 6), (7, 3, 12))
_ENDS_KERNEL = 7


def decoder_graph(file: PackedFile) -> Model:
    """The decoder as an ONNX model, from `latent` to `sound`. Raises ValueError and LookupError if it is none."""
    _, version, inputs, *channels = file.header[:7]
    if version != 1 or file.header[7] != 0:
        raise ValueError("it has a version or a filter that is not known")
    rest, graph = iter(file.tensors), WrittenGraph()

    def convolution(x: str, out: int, into: int, kernel: int, dilation: int = 1) -> str:
        weight, bias = graph.weight(next(rest).reshape(out, into, kernel)), graph.weight(next(rest))
        reach = dilation * (kernel // 2)
        return graph.node("Conv", (x, weight, bias), pads=(reach, reach), dilations=(dilation,))

    x = convolution("latent", channels[0], inputs, _ENDS_KERNEL)
    for stage, (kernel, stride) in enumerate(_UPSAMPLING):
        into, out = channels[stage : stage + 2]
        weight, bias = graph.weight(next(rest).reshape(into, out, kernel)), graph.weight(next(rest))
        cut = (kernel - stride) // 2
        active = graph.node("LeakyRelu", (x,), alpha=_SLOPE)
        x = graph.node("ConvTranspose", (active, weight, bias), pads=(cut, cut), strides=(stride,))
        branches: list[str] = []
        for size, *dilations in _BRANCHES:
            branch = x
            for dilation in dilations:
                active = graph.node("LeakyRelu", (branch,), alpha=_SLOPE)
                branch = graph.node("Add", (convolution(active, out, out, size, dilation), branch))
            branches.append(branch)
        x = graph.node("Mean", branches)
    active = graph.node("LeakyRelu", (x,), alpha=_LAST_SLOPE)
    graph.node("Tanh", (convolution(active, 1, channels[3], _ENDS_KERNEL),), output="sound")
    return graph.model(inputs=("latent",), outputs=("sound",))


def create(context: TtsContext) -> SanoEngine:
    # The voice that most replies need is loaded at once, and speaks for languages that have none.
    language = context.language if context.language in context.files else next(iter(context.files))
    return SanoEngine(context.files[language], language, others=context.files, threads=context.threads)
