"""Measures the speed of a GGUF file on this machine and how well it predicts a fixed text, in a child process.

The child is `python -m edgevox.models.speed FILE THREADS speed|text`: one run, JSON on standard output.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from edgevox.core.errors import ModelError

SAMPLE_TEXT = """\
The ferry to the island leaves twice a day, at eight in the morning and at half past four in the afternoon. \
In winter it does not run at all when the wind is stronger than the captain likes, and nobody on the \
mainland can say in advance how strong that is. Anna had missed the morning boat by two minutes. She stood \
on the pier with a bag in each hand and watched the white line behind the ship grow longer, and then she \
did what people in that town have always done: she went to the bakery and ordered a large coffee.

The baker knew her. He asked about her brother, who had moved to the city to study medicine, and about the \
roof of her mother's house, which had been damaged by the storm in October. She told him that the roof was \
nearly finished and that her brother had passed his first examinations, although he complained about the \
food, the noise and the price of a small room with a view of a car park. The baker laughed. He said that \
his own son had complained about the same things ten years ago, and that he now refused to live anywhere \
else.

It began to rain. The people who had been sitting outside came in and brought the smell of wet wool with \
them. Two children put their noses against the glass and counted the boats in the harbour, and they could \
not agree whether the old rowing boat without oars should be counted too. Their father, who was reading the \
newspaper, said that a boat is a boat as long as it floats. This did not settle the question, because from \
the window it was not easy to see whether it did.

Anna took out her notebook and wrote a list of the things that had to be done before the end of the month. \
The garden wall needed new stones on the north side. The pump in the cellar made a sound like an old man \
clearing his throat, and somebody had to look at it before the spring rain. The school had asked her to \
teach on Thursdays as well, and she had not answered yet. She liked the children, and the money would help, \
but Thursday was the day on which she walked to the lighthouse and back, and she was not sure that she \
wanted to give it up. She drew a small lighthouse next to that line and put a question mark behind it.

At noon the radio gave the weather report. There would be showers in the afternoon, with a moderate breeze \
from the south west, and the temperature would not rise above nine degrees. Tomorrow would be dry and a \
little warmer. The baker turned the volume down again and said that the man on the radio had been wrong \
three times that week, so there was reason to hope. Then he cut a loaf into slices, wrapped half of it in \
paper and put it on her table. She tried to pay for it, but he shook his head and told her that it was \
yesterday's bread, which was not true.

When a machine weighs a letter, it measures how strongly the earth pulls at the paper. A simple balance \
does not care where it stands, because the weights on the other side are pulled in the same way, but a \
spring balance shows a little less on a high mountain than at the sea. The difference is far too small to \
matter at a post office. It matters a great deal to people who look for water, ore or oil under the ground, \
since heavy rock pulls more than light rock does. They carry instruments that can notice a change of one \
part in a hundred million, and with enough patience they can draw a map of things that nobody has ever \
seen.

To make a good soup you do not need much. Cut two onions, three carrots and a piece of celery into small \
cubes, and let them turn soft in a little butter over a low flame. Add a litre of water, salt, some pepper \
and two potatoes, and wait for twenty minutes. If there is bread left from the day before, fry it with \
garlic and put it on top just before you serve. Most people take the pot off the fire too early; the \
potatoes should fall apart when you touch them with a spoon. A few drops of lemon juice at the end make all \
the difference.

At four o'clock the sky cleared. The ferry came around the breakwater with all its lights on, although it \
was not dark yet, and the same captain who had left without her in the morning waved from the bridge as if \
nothing had happened. Anna finished her second cup of coffee, put the bread into her bag and thanked the \
baker once more. On the pier she met the woman who ran the small library on the island. They talked about \
the book that both of them had wanted to read for years, and that neither had opened, and they agreed to \
begin on the same evening and to tell each other on Sunday how far they had come.
"""


_ROUNDS = 3
_PROMPT_TOKENS = 128
_GENERATED_TOKENS = 24
_CONTEXT_TOKENS = 1024
# Logits take 4 bytes per vocabulary entry and token: 64 tokens of 262,000 entries are 67 MB.
_SCORED_AT_ONCE_TOKENS = 64
_TIMEOUT_S = 900.0


@dataclass(frozen=True, slots=True)
class ModelSpeed:
    """The best of several runs, and the mean log probability (natural) of a token of the text."""

    prompt_tokens_s: float
    generated_tokens_s: float
    mean_logprob: float

    @property
    def turn_s(self) -> float:
        """Return the duration of an assistant turn at this speed: a prompt, and a sentence or two."""
        return _PROMPT_TOKENS / self.prompt_tokens_s + _GENERATED_TOKENS / self.generated_tokens_s


def measure(paths: Sequence[Path], *, threads: int) -> list[ModelSpeed]:
    """Measure files alternately, so that other load on the machine affects all of them. Raises ModelError."""
    rounds = [[_run(path, threads, "speed") for path in paths] for _ in range(_ROUNDS)]
    return [
        ModelSpeed(
            prompt_tokens_s=max(prompt_tokens_s for prompt_tokens_s, _ in runs),
            generated_tokens_s=max(generated_tokens_s for _, generated_tokens_s in runs),
            mean_logprob=mean_logprob(path, threads=threads),
        )
        for path, runs in zip(paths, zip(*rounds, strict=True), strict=True)
    ]


def mean_logprob(path: Path, *, threads: int) -> float:
    """Return the mean natural log probability of a token of the text. Raises ModelError."""
    return _run(path, threads, "text")[0]


def _run(path: Path, threads: int, what: Literal["speed", "text"]) -> list[float]:
    command = [sys.executable, "-m", "edgevox.models.speed", str(path), str(threads), what]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise ModelError(
            f"{path.name} is too slow to measure", hint="choose a smaller model for this machine"
        ) from error
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise ModelError(f"{path.name} cannot be measured: {last}", hint="edgevox models verify checks it")
    numbers: list[float] = json.loads(done.stdout)
    return numbers


# --- child process


def _measure_here(path: Path, threads: int, what: str) -> list[float]:
    # Lazy: the parent process stays light.
    import llama_cpp as llama

    model = llama.llama_model_load_from_file(str(path).encode(), llama.llama_model_default_params())
    if model is None:
        raise ModelError(f"llama.cpp cannot load {path}")
    params = llama.llama_context_default_params()
    params.n_ctx = _CONTEXT_TOKENS
    params.n_threads = params.n_threads_batch = threads
    context = llama.llama_init_from_model(model, params)
    if context is None:
        raise ModelError(f"not enough memory for {path}")
    vocab = llama.llama_model_get_vocab(model)
    tokens = _tokens(llama, vocab)
    if what == "text":
        return [_mean_logprob(llama, context, tokens, llama.llama_vocab_n_tokens(vocab))]
    return [_prompt_tokens_s(llama, context, tokens), _generated_tokens_s(llama, context, tokens)]


def _tokens(llama: Any, vocab: Any) -> list[int]:  # noqa: ANN401  (the bindings have no types)
    text = SAMPLE_TEXT.encode()
    found = (llama.llama_token * len(text))()
    count = llama.llama_tokenize(vocab, text, len(text), found, len(found), True, False)
    return list(found[: min(count, _CONTEXT_TOKENS)])


def _prompt_tokens_s(llama: Any, context: Any, tokens: list[int]) -> float:  # noqa: ANN401
    began_s = time.perf_counter()
    _decode(llama, context, tokens[:_PROMPT_TOKENS])
    return _PROMPT_TOKENS / (time.perf_counter() - began_s)


def _generated_tokens_s(llama: Any, context: Any, tokens: list[int]) -> float:  # noqa: ANN401
    """Evaluate the next tokens of the text one by one; their values do not matter."""
    began_s = time.perf_counter()
    for token in tokens[_PROMPT_TOKENS : _PROMPT_TOKENS + _GENERATED_TOKENS]:
        _decode(llama, context, [token])
    return _GENERATED_TOKENS / (time.perf_counter() - began_s)


def _mean_logprob(llama: Any, context: Any, tokens: list[int], words: int) -> float:  # noqa: ANN401
    total = 0.0
    batch = llama.llama_batch_init(_SCORED_AT_ONCE_TOKENS, 0, 1)
    for first in range(0, len(tokens) - 1, _SCORED_AT_ONCE_TOKENS):
        piece = tokens[first : min(first + _SCORED_AT_ONCE_TOKENS, len(tokens) - 1)]
        batch.n_tokens = len(piece)
        for place, token in enumerate(piece):
            batch.token[place] = token
            batch.pos[place] = first + place
            batch.n_seq_id[place] = 1
            batch.seq_id[place][0] = 0
            batch.logits[place] = 1
        if llama.llama_decode(context, batch) != 0:
            raise ModelError("llama.cpp stopped")
        address = ctypes.cast(llama.llama_get_logits(context), ctypes.POINTER(ctypes.c_float))
        logits = np.ctypeslib.as_array(address, shape=(len(piece), words))
        top = logits.max(axis=1)
        all_words = top + np.log(np.exp(logits - top[:, None]).sum(axis=1))
        followed_by = tokens[first + 1 : first + 1 + len(piece)]
        total += float((logits[np.arange(len(piece)), followed_by] - all_words).sum())
    llama.llama_batch_free(batch)
    return total / (len(tokens) - 1)


def _decode(llama: Any, context: Any, tokens: list[int]) -> None:  # noqa: ANN401
    array = (llama.llama_token * len(tokens))(*tokens)  # the batch only points to it
    if llama.llama_decode(context, llama.llama_batch_get_one(array, len(tokens))) != 0:
        raise ModelError("llama.cpp stopped")
    llama.llama_synchronize(context)


def _main(path: str, threads: str, what: str) -> int:
    try:
        numbers = _measure_here(Path(path), int(threads), what)
    except ModelError as error:
        sys.stderr.write(error.message + "\n")
        return 1
    sys.stdout.write(json.dumps(numbers))
    return 0


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
