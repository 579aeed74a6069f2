"""Cancels generation at random moments: `python -m benchmarks.cancellation [--count 200]`.

In prompt evaluation and in decoding. Each time: how long it took to return, and whether the next answer
equals the one without a cancel before it. Sampling is greedy with the same batches, so the answers have to
be identical.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import threading
import time
from pathlib import Path

from benchmarks.default_model import default_model
from benchmarks.hardware import describe
from edgevox.core.turn import CancelFlag
from edgevox.core.types import ChatDelta, ChatDone, ChatRequest, Message, Sampling
from edgevox.engines.threads import plan_threads
from edgevox.llm.engine import LlamaEngine

GREEDY = Sampling(temperature=0.0, max_tokens=20)
SYSTEM = Message("system", "You are a helpful assistant. " + "Be friendly and give short answers. " * 20)
THINGS = "Here is a list of things that are in the house and what they are good for. " * 12


class Bench:
    """Two engines, one that is disturbed and one that is not. No two questions are the same, so that neither
    engine finds a prompt in memory that somebody else has asked: both evaluate the same batches."""

    def __init__(self, model: Path, seed: int) -> None:
        self.disturbed, self.undisturbed = (self._engine(model) for _ in range(2))
        self.random = random.Random(seed)

    def _engine(self, model: Path) -> LlamaEngine:
        plan = plan_threads()
        engine = LlamaEngine(model, context_tokens=4096, threads=plan.llm, prompt_threads=plan.llm_prompt)
        engine.load()
        return engine

    def ask(self, engine: LlamaEngine, number: int, cancel: CancelFlag) -> tuple[str, ChatDone]:
        text = ""
        question = Message("user", f"{number} is your lucky number. {THINGS}What is good for reading?")
        request = ChatRequest((SYSTEM, question), sampling=GREEDY, client=f"client {number}")
        for reply in engine.run(request, cancel):
            match reply:
                case ChatDelta():
                    text += reply.text
                case ChatDone():
                    return text, reply
        raise RuntimeError("the engine did not finish")

    def cancelled(self, number: int) -> tuple[float, bool, str]:
        """Seconds from the cancel to the return, whether the next answer is right, and where it struck."""
        started_s = time.perf_counter()
        expected, _ = self.ask(self.undisturbed, number, CancelFlag())
        whole_s = time.perf_counter() - started_s
        cancel = CancelFlag()
        set_at_s = 0.0

        def strike() -> None:
            nonlocal set_at_s
            set_at_s = time.perf_counter()
            cancel.set()

        timer = threading.Timer(self.random.uniform(0.0, 0.95) * whole_s, strike)
        timer.start()
        text, done = self.ask(self.disturbed, number, cancel)
        returned_s = time.perf_counter()
        timer.cancel()
        timer.join()
        again, _ = self.ask(self.disturbed, number, CancelFlag())
        if done.finish_reason != "cancelled":
            return 0.0, True, "too late"
        return returned_s - set_at_s, again == expected, "writing" if text else "reading"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--model", type=Path, help="a GGUF file; the default model where none is given")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    args = parser.parse_args()
    model = args.model or default_model()
    bench = Bench(model, args.seed)
    struck: dict[str, list[float]] = {"reading": [], "writing": [], "too late": []}
    wrong = number = 0
    while len(struck["reading"]) + len(struck["writing"]) < args.count:
        elapsed_s, right, where = bench.cancelled(number)
        struck[where].append(elapsed_s)
        wrong += not right
        number += 1
    times_s = struck["reading"] + struck["writing"]
    figures = {
        "hardware": describe(),
        "model": model.name,
        "cancels": len(times_s),
        "while_reading": len(struck["reading"]),
        "while_writing": len(struck["writing"]),
        "median_ms": round(1000 * statistics.median(times_s), 1),
        "longest_ms": round(1000 * max(times_s), 1),
        "over_150_ms": sum(elapsed_s > 0.15 for elapsed_s in times_s),
        "wrong_answers_after": wrong,
    }
    print(json.dumps(figures, indent=2))
    if args.json:
        args.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
