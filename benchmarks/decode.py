"""Our decode loop against llama.cpp's own calls: `python -m benchmarks.decode`.

The yardstick is llama_decode and a greedy llama_sampler_sample, one after the other and nothing else, on
the same context, with the same threads, in turns with ours. Both write the same tokens.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from pathlib import Path

import llama_cpp

from benchmarks.default_model import default_model
from benchmarks.hardware import describe
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Sampling
from edgevox.llm.context import LlamaContext
from edgevox.llm.generation import Generation
from edgevox.llm.prefix_cache import SEQUENCES, PrefixCache
from edgevox.llm.sampling import Candidates, Constrainer, Sampler

PROMPT = "Here is the story of a house by the sea, and of everybody who ever lived in it. " * 4
TOKENS = 96
ROUNDS = 7


class Bench:
    def __init__(self, model: Path, threads: int) -> None:
        self.context = LlamaContext(
            model, context_tokens=1024, threads=threads, prompt_threads=threads, sequences=SEQUENCES
        )
        self.vocabulary = self.context.vocabulary
        self.cache = PrefixCache(self.context)
        self.candidates = Candidates(self.vocabulary.size)
        self.constrainer = Constrainer(self.vocabulary, self.candidates, "llguidance")
        self.prompt = self.vocabulary.tokenize(PROMPT, special=True)
        # llama.cpp's own way to make a batch knows sequence 0 alone: another client takes the other one.
        self.cache.extend(self.cache.begin("another", self.prompt, 0)[0], self.prompt)
        assert self.cache.begin("", self.prompt, 0)[0].seq_id == 0

    def ours(self) -> tuple[float, list[int]]:
        """Seconds, and the tokens that were evaluated; the reply may end before TOKENS."""
        sequence, _ = self.cache.begin("", self.prompt, 0)
        self.cache.extend(sequence, self.prompt[len(sequence.tokens) :])
        generation = Generation(
            self.prompt,
            sequence=sequence,
            cache=self.cache,
            context=self.context,
            sampler=Sampler(self.candidates, Sampling(temperature=0.0)),
            constrainer=self.constrainer,
            constraint=None,
            stop=("\nUser:",),
            reasoning=None,
            limit_tokens=TOKENS,
            cancel=CancelFlag(),
        )
        started_s = time.perf_counter()
        for _ in generation.pieces():
            pass
        elapsed_s = time.perf_counter() - started_s
        generation.close()
        return elapsed_s, sequence.tokens[len(self.prompt) :]

    def theirs(self, count: int) -> tuple[float, list[int]]:
        """Seconds for `count` tokens, and those tokens."""
        sequence, _ = self.cache.begin("", self.prompt, 0)
        self.cache.extend(sequence, self.prompt[len(sequence.tokens) :])
        context = self.context._context
        chain = llama_cpp.llama_sampler_init_greedy()
        one = (llama_cpp.llama_token * 1)()
        batch = llama_cpp.llama_batch_get_one(one, 1)
        written: list[int] = []
        started_s = time.perf_counter()
        for _ in range(count):
            one[0] = token = llama_cpp.llama_sampler_sample(chain, context, -1)
            written.append(token)
            llama_cpp.llama_decode(context, batch)
        llama_cpp.llama_sampler_sample(chain, context, -1)
        elapsed_s = time.perf_counter() - started_s
        llama_cpp.llama_sampler_free(chain)
        sequence.tokens += written
        return elapsed_s, written


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", type=Path, help="a GGUF file; the default model where none is given")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    args = parser.parse_args()
    model = args.model or default_model()
    figures: dict[str, object] = {"hardware": describe(), "model": model.name}
    for threads in range(1, len(os.sched_getaffinity(0)) + 1):
        bench = Bench(model, threads)
        bench.ours()  # from here on both begin with the prompt in memory, all but its last token
        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours_s, ours_tokens = bench.ours()
            theirs_s, theirs_tokens = bench.theirs(len(ours_tokens))
            assert ours_tokens == theirs_tokens, "both must write the same"
            ours.append(len(ours_tokens) / ours_s)
            theirs.append(len(ours_tokens) / theirs_s)
        ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
        print(
            f"{threads} thread(s): ours {statistics.median(ours):.1f} tokens/s, "
            f"llama.cpp's calls {statistics.median(theirs):.1f}, ratio {ratio:.3f} (bar 0.95)"
        )
        figures[f"{threads} threads"] = {
            "ours": round(statistics.median(ours), 1),
            "llama.cpp": round(statistics.median(theirs), 1),
            "ratio": round(ratio, 3),
        }
        bench.context.close()
    if args.json:
        args.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
