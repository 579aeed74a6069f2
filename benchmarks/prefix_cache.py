"""What the prefix cache saves: `python -m benchmarks.prefix_cache`.

The second turn of a long prompt, a restart with and without the snapshot on disk, and snapshots that must be
ignored: of another model, of another template, cut short.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.default_model import default_model
from benchmarks.hardware import describe
from edgevox.core.turn import CancelFlag
from edgevox.core.types import ChatDelta, ChatDone, ChatRequest, Message, Sampling
from edgevox.engines.threads import plan_threads
from edgevox.llm.engine import LlamaEngine

SYSTEM = "You are the voice of a house. " + "".join(
    f"Room {number} has a lamp, a heater and a blind; lamp {number} is dimmable. " for number in range(70)
)
GREEDY = Sampling(temperature=0.0, max_tokens=24)
OTHER_TEMPLATE = "{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}[assistant] "
ROUNDS = 3


class Asked:
    """One question to an engine: what was evaluated, and how long the first word took."""

    def __init__(self, engine: LlamaEngine, *messages: Message) -> None:
        started_s = time.perf_counter()
        self.first_s = 0.0
        self.text = ""
        for reply in engine.run(ChatRequest(messages, sampling=GREEDY), CancelFlag()):
            match reply:
                case ChatDelta(text):
                    self.first_s = self.first_s or time.perf_counter() - started_s
                    self.text += text
                case ChatDone():
                    self.prompt_tokens = reply.prompt_tokens
                    self.evaluated_tokens = reply.prompt_tokens - reply.cached_tokens


class Bench:
    def __init__(self, model: Path) -> None:
        self.model = model
        self.plan = plan_threads()
        self.question = (Message("system", SYSTEM), Message("user", "Which room has lamp 12?"))

    def engine(self, folder: Path | None, template: str | None = None) -> LlamaEngine:
        engine = LlamaEngine(
            self.model,
            context_tokens=2048,
            threads=self.plan.llm,
            prompt_threads=self.plan.llm_prompt,
            chat_template=template,
            snapshot_dir=folder,
        )
        engine.load()
        return engine

    def second_turn(self) -> dict[str, object]:
        engine = self.engine(None)
        first = Asked(engine, *self.question)
        second = Asked(
            engine, *self.question, Message("assistant", first.text), Message("user", "And which one has a heater?")
        )
        print(f"first turn: {first.prompt_tokens} tokens, {first.evaluated_tokens} evaluated")
        print(f"second turn: {second.prompt_tokens} tokens, {second.evaluated_tokens} evaluated")
        return {
            "first_turn_tokens": first.prompt_tokens,
            "first_turn_evaluated": first.evaluated_tokens,
            "second_turn_tokens": second.prompt_tokens,
            "second_turn_evaluated": second.evaluated_tokens,
        }

    def restart(self) -> dict[str, object]:
        with snapshot_folder() as folder:
            reference = Asked(self.engine(folder), *self.question)
            cold, warm = [], []
            for _ in range(ROUNDS):
                cold.append(Asked(self.engine(None), *self.question))
                warm.append(Asked(self.engine(folder), *self.question))
            (snapshot,) = folder.glob("*.prefix")
            ratio = statistics.median(c.first_s / w.first_s for c, w in zip(cold, warm, strict=True))
            same = all(asked.text == reference.text for asked in (*cold, *warm))
            figures: dict[str, object] = {
                "without_snapshot_ms": round(1000 * statistics.median(asked.first_s for asked in cold)),
                "with_snapshot_ms": round(1000 * statistics.median(asked.first_s for asked in warm)),
                "times_sooner": round(ratio, 1),
                "evaluated_with_snapshot": warm[0].evaluated_tokens,
                "same_answer": same,
                "snapshot_mb": round(snapshot.stat().st_size / 1e6, 1),
            }
        print(
            f"restart: first word after {figures['without_snapshot_ms']} ms without a snapshot, "
            f"{figures['with_snapshot_ms']} ms with one ({figures['snapshot_mb']} MB): "
            f"{figures['times_sooner']} times sooner (bar 5); same answer: {same}"
        )
        return figures

    def ignored(self) -> dict[str, object]:
        """How many tokens are evaluated although a file lies there: all of them, each time."""
        found: dict[str, object] = {}
        with snapshot_folder() as folder:
            Asked(self.engine(folder), *self.question)
            (snapshot,) = folder.glob("*.prefix")
            whole = snapshot.read_bytes()
            found["another template"] = Asked(self.engine(folder, OTHER_TEMPLATE), *self.question).evaluated_tokens
            for name, content in (
                ("cut short", whole[: len(whole) // 2]),
                ("one bit wrong", whole[:-100] + bytes([whole[-100] ^ 1]) + whole[-99:]),
                ("of another model", bytes([whole[0] ^ 1]) + whole[1:]),  # the digest covers the model
                ("empty", b""),
            ):
                snapshot.write_bytes(content)
                found[name] = Asked(self.engine(folder), *self.question).evaluated_tokens
        for name, tokens in found.items():
            print(f"snapshot {name}: ignored, {tokens} tokens evaluated")
        return found


@contextmanager
def snapshot_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", type=Path, help="a GGUF file; the default model where none is given")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    args = parser.parse_args()
    bench = Bench(args.model or default_model())
    print(describe(), bench.model.name)
    figures = {
        "hardware": describe(),
        "model": bench.model.name,
        "second_turn": bench.second_turn(),
        "restart": bench.restart(),
        "ignored": bench.ignored(),
    }
    if args.json:
        args.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
