"""Resident memory of the language model over many turns: `python -m benchmarks.turn_memory [--turns 1000]`.

Conversations that grow, end and begin anew, with and without tools, held to grammars and free.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from benchmarks.default_model import default_model
from benchmarks.forced_calls import tool_sets
from benchmarks.hardware import describe
from edgevox.core.turn import CancelFlag
from edgevox.core.types import ChatDelta, ChatRequest, Message, Sampling
from edgevox.engines.threads import plan_threads
from edgevox.llm.engine import LlamaEngine

SYSTEM = Message("system", "You are a helpful assistant. Answer in one short sentence.")
TURNS_PER_CONVERSATION = 6
WARM_UP_TURNS = 50


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--turns", type=int, default=1000)
    parser.add_argument("--model", type=Path, help="a GGUF file; the default model where none is given")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    args = parser.parse_args()
    model = args.model or default_model()
    plan = plan_threads()
    engine = LlamaEngine(model, context_tokens=2048, threads=plan.llm, prompt_threads=plan.llm_prompt)
    engine.load()
    sets = tool_sets()
    history: list[Message] = []
    seen: dict[int, float] = {}
    for turn in range(args.turns):
        if turn % TURNS_PER_CONVERSATION == 0:
            history = [SYSTEM]
        history.append(Message("user", f"Tell me something about the number {turn}."))
        tools = sets[turn // TURNS_PER_CONVERSATION % 6] if turn % 3 == 0 else ()
        request = ChatRequest(
            tuple(history),
            tools,
            Sampling(max_tokens=24),
            tool_choice="required" if tools else "auto",
            wire_format="hermes",
            client=f"client {turn // TURNS_PER_CONVERSATION % 6}",
        )
        replies = engine.run(request, CancelFlag())
        history.append(Message("assistant", "".join(r.text for r in replies if isinstance(r, ChatDelta))))
        if turn + 1 in (1, WARM_UP_TURNS) or (turn + 1) % 100 == 0:
            seen[turn + 1] = round(resident_mb(), 1)
            print(f"after {turn + 1} turns: {seen[turn + 1]} MB")
    growth_mb = round(resident_mb() - seen[WARM_UP_TURNS], 1)
    print(f"grown by {growth_mb} MB since turn {WARM_UP_TURNS}")
    if args.json:
        figures = {"hardware": describe(), "model": model.name, "resident_mb": seen, "grown_mb": growth_mb}
        args.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
