"""What it costs to hold a reply to a grammar: `python -m benchmarks.constrained_decoding`.

Milliseconds per token, free and under each engine, in turns, on the default model and on a vocabulary of
150,000 tokens (random weights: every pick is a surprise, so the whole vocabulary is asked at every token).
Also: a call with its forced runs in one batch against one token at a time, and the time to build grammars.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import llama_cpp

from benchmarks.default_model import default_model
from benchmarks.forced_calls import tool, tool_sets
from benchmarks.hardware import describe
from benchmarks.random_model import write_random_model
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Sampling
from edgevox.llm.context import LlamaContext
from edgevox.llm.generation import Generation, ReplyConstraint
from edgevox.llm.grammars import CallGrammar, GrammarCache, build_call_grammar
from edgevox.llm.prefix_cache import SEQUENCES, PrefixCache
from edgevox.llm.sampling import Candidates, Constrainer, Constraint, ConstraintEngine, Sampler

PROMPT = "The house has a lamp in the hall and one in the kitchen. Call a tool now.\n"
BIG_VOCABULARY = 151_936
ROUNDS = 9
HOT = Sampling(temperature=1.0, top_p=0.95, top_k=40, min_p=0.05)


class OneByOne(Constrainer):
    """Leaves forced tokens to be picked, so that every engine writes token by token."""

    def start(self, grammar: CallGrammar) -> Constraint:
        constraint = super().start(grammar)
        constraint.forced = list  # type: ignore[method-assign]  # an empty list each time
        return constraint


class Bench:
    def __init__(self, model: Path, threads: int) -> None:
        self.model = model
        self.context = LlamaContext(
            model, context_tokens=2048, threads=threads, prompt_threads=threads, sequences=SEQUENCES
        )
        self.vocabulary = self.context.vocabulary
        self.candidates = Candidates(self.vocabulary.size)
        self.cache = PrefixCache(self.context)
        self.prompt = self.vocabulary.tokenize(PROMPT, special=True)

    def constrainer(self, engine: ConstraintEngine, *, one_by_one: bool = True) -> Constrainer:
        kind = OneByOne if one_by_one else Constrainer
        return kind(self.vocabulary, self.candidates, engine)

    def generate(
        self, constrainer: Constrainer, grammar: CallGrammar | None, limit: int, sampling: Sampling = HOT
    ) -> tuple[float, int]:
        """Seconds, and tokens written, from a prompt that is in memory already."""
        sequence, _ = self.cache.begin("", self.prompt, 0)
        generation = Generation(
            self.prompt,
            sequence=sequence,
            cache=self.cache,
            context=self.context,
            sampler=Sampler(self.candidates, sampling),
            constrainer=constrainer,
            constraint=ReplyConstraint(grammar, "at_once") if grammar else None,
            stop=(),
            reasoning="",
            limit_tokens=limit,
            cancel=CancelFlag(),
        )
        started_s = time.perf_counter()
        for _ in generation.pieces():
            pass
        elapsed_s = time.perf_counter() - started_s
        generation.close()
        return elapsed_s, generation.generated


def ms_per_token(bench: Bench, grammar: CallGrammar, limit: int) -> dict[str, float]:
    """Each way in turns, so that all see the same machine; the median over the rounds."""
    ways: dict[str, Callable[[], tuple[float, int]]] = {}
    free = bench.constrainer("llguidance")
    ways["free"] = lambda: bench.generate(free, None, limit)
    guided = bench.constrainer("llguidance")
    ways["llguidance"] = lambda: bench.generate(guided, grammar, limit)
    native = bench.constrainer("llama.cpp")
    ways["llama.cpp"] = lambda: bench.generate(native, grammar, limit)
    llama = llama_cpp.Llama(str(bench.model), n_ctx=2048, n_threads=1, n_threads_batch=1, verbose=False)
    compiled = llama_cpp.LlamaGrammar.from_string(grammar.gbnf, verbose=False)

    def theirs() -> tuple[float, int]:
        llama.eval(llama.tokenize(PROMPT.encode(), add_bos=False))
        started_s = time.perf_counter()
        written = 0
        for _ in llama.create_completion(PROMPT, grammar=compiled, max_tokens=limit, temperature=1.0, stream=True):
            written += 1
        return time.perf_counter() - started_s, written

    ways["llama-cpp-python grammar="] = theirs
    for way in ways.values():
        way()  # whatever is made at first use
    seen: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            seconds, tokens = way()
            seen[name].append(1000 * seconds / max(tokens, 1))
    return {name: round(statistics.median(values), 3) for name, values in seen.items()}


def report(name: str, bench: Bench, grammar: CallGrammar) -> dict[str, float]:
    figures = ms_per_token(bench, grammar, limit=48)
    free = figures["free"]
    print(f"{name}, {bench.vocabulary.size:,} tokens, one thread:")
    for way, value in figures.items():
        print(f"  {way:28} {value:8.3f} ms per token  {value - free:+.3f} ms, {value / free - 1:+.1%}")
    return figures


def forced_runs(bench: Bench, grammar: CallGrammar) -> dict[str, float]:
    """One whole call with and without its forced runs; greedy, so that both write the same."""
    together = bench.constrainer("llguidance", one_by_one=False)
    apart = bench.constrainer("llguidance")
    cold = replace(HOT, temperature=0.0)
    ratios, seconds = [], []
    for round_number in range(ROUNDS + 1):
        with_s, with_tokens = bench.generate(together, grammar, 200, cold)
        without_s, _ = bench.generate(apart, grammar, 200, cold)
        if round_number:  # the first makes the tokenizer
            ratios.append(with_s / without_s)
            seconds.append(with_s)
    ratio = statistics.median(ratios)
    print(
        f"a forced call of {with_tokens} tokens: {1000 * statistics.median(seconds):.0f} ms with forced "
        f"runs, {ratio:.2f} of the time without (bar 0.7)"
    )
    return {"ms": round(1000 * statistics.median(seconds), 1), "of_the_time_without": round(ratio, 3)}


def building() -> dict[str, float]:
    forty = tool_sets()[18]
    times_s = []
    for number in range(ROUNDS):
        changed = (*forty[1:], tool(f"other_{number}", {"a": {"type": "integer"}}))
        started_s = time.perf_counter()
        build_call_grammar(changed)
        times_s.append(time.perf_counter() - started_s)
    cache = GrammarCache()
    cache.get(forty)
    cached_s = []
    for _ in range(50):
        started_s = time.perf_counter()
        cache.get(forty)
        cached_s.append(time.perf_counter() - started_s)
    figures = {
        "forty_tools_ms": round(1000 * statistics.median(times_s), 2),
        "cached_ms": round(1000 * statistics.median(cached_s), 4),
    }
    print(f"grammar of 40 tools: {figures['forty_tools_ms']} ms (bar 25), cached {figures['cached_ms']} ms (bar 0.1)")
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", type=Path, help="a GGUF file; the default model where none is given")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    args = parser.parse_args()
    model = args.model or default_model()
    sets = tool_sets()
    five = build_call_grammar(sets[16])
    print(describe(), model.name)
    figures: dict[str, object] = {"hardware": describe(), "model": model.name}
    bench = Bench(model, threads=1)
    figures["default model"] = report("default model", bench, five)
    light = build_call_grammar(sets[1])
    figures["forced runs"] = forced_runs(bench, light)
    bench.context.close()
    with tempfile.TemporaryDirectory() as folder:
        big = Path(folder) / "random.gguf"
        write_random_model(big, like=model, tokens=BIG_VOCABULARY)
        bench = Bench(big, threads=1)
        figures["big vocabulary"] = report("random weights", bench, five)
        bench.context.close()
    figures["building"] = building()
    if args.json:
        args.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
