"""How fast tool calls are read, and how time grows with the input: `python -m benchmarks.tool_parsing`.

With `--corpus FILE` (one case per line: format, subformat, bucket, raw_output, tools, expected_calls) it
prints instead how many cases of each format are read right, in batch and streamed in pieces of 1, 4 and 20.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from edgevox.core.types import ToolCall
from edgevox.llm.tool_parsers import DETECTORS, ParsedReply, StreamingToolParser, parse_reply

CHUNKS = (0, 1, 4, 20)
ROUNDS = 400
SOON_S = 0.1
GROWTH_KB = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
# Which chain reads a further format of a corpus; the eight formats are parsers themselves.
CHAINS = {
    "lfm2": "lfm2",
    "qwen3_coder": "qwen3_coder",
    "minicpm5": "minicpm",
    "phi4mini": "phi_functools",
    "phi4": "phi_functools",
    "nemotron_nano": "nemotron",
    "nemotron3": "nemotron",
    "nemotron_deci": "nemotron",
    "harmony": "harmony",
    "glm45": "glm",
    "glm47": "glm",
    "ling3": "glm",
    "poolside": "glm",
    "hunyuan": "hunyuan",
    "hy_v3": "hunyuan",
    "jamba": "hunyuan",
    "olmo3": "olmo3",
    "step3p5": "qwen3_coder",
    "ernie45": "hermes",
    "deepseek_v3": "deepseek",
    "deepseek_v31": "deepseek",
    "deepseek_v32": "deepseek",
    "deepseek_v3_1": "deepseek",
    "deepseek_v3_2": "deepseek",
    "deepseek_v4": "deepseek",
    "cogito": "deepseek",
    "kimi_k2": "kimi",
    "kimi-k2-thinking": "kimi",
    "minimax_m2": "minimax",
    "minimax-m2": "minimax",
    "cohere2moe": "command",
    "internlm2": "internlm",
}
TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "set_light",
            "description": "Switch a light.",
            "parameters": {
                "type": "object",
                "properties": {
                    "room": {"type": "string", "enum": ["kitchen", "hall"]},
                    "on": {"type": "boolean"},
                    "brightness": {"type": "integer"},
                },
                "required": ["room", "on"],
            },
        },
    },
    {"type": "function", "function": {"name": "get_time", "parameters": {"type": "object", "properties": {}}}},
]
CALL = ToolCall("a1b2c3d4e", "set_light", '{"room": "kitchen", "on": true, "brightness": 40}')


def parse(raw: str, parsers: tuple[str, ...], tools: list[dict[str, Any]] | None, chunk: int) -> ParsedReply:
    """Read `raw` whole (chunk 0) or in pieces."""
    if chunk == 0:
        return parse_reply(raw, preset_parsers=parsers, tools=tools)
    parser = StreamingToolParser(parsers, tools)
    for at in range(0, len(raw), chunk):
        parser.feed(raw[at : at + chunk])
    parser.finish()
    return parser.reply()


def adversarial(size: int) -> Iterator[tuple[str, str]]:
    """Inputs of about `size` characters that are hard for a careless parser."""

    def fill(piece: str) -> str:
        # An even number, so that a quote which the pieces leave open is closed at every size.
        return piece * (size // len(piece) // 2 * 2)

    for name, opening in (
        ("hermes", "<tool_call>"),
        ("mistral", "[TOOL_CALLS]"),
        ("lfm2", "<|tool_call_start|>"),
        ("llama32", ""),
    ):
        yield f"{name}: unclosed lists", opening + fill("[f(a=1, ")
        yield f"{name}: nested brackets", opening + '{"name": "set_light", "arguments": ' + fill('{"a": [')
        yield (
            f"{name}: quotes and backslashes",
            opening + '{"name": "set_light", "arguments": {"room": "' + fill('\\\\\\" \\'),
        )
        yield f"{name}: unclosed strings", fill(opening + '{"name": "set_light", "arguments": {"a": "x ')
    yield "half markers", fill("<tool_cal<thin[TOOL_CALL <|tool_call")
    yield "markers without calls", fill("<tool_call> no <tool_call><function=x ")
    yield "end markers in strings", fill('<tool_call>{"name": "a", "arguments": {"b": "</tool_call>')
    yield "function tags", fill("<function=set_light><parameter=room>x</function> y ")
    yield "functions one after the other", fill("<tool_call><function=get_time><parameter=a>")
    yield "messages to nobody", fill("<|channel|>commentary to=python<|message|>x<|call|>")
    yield "arg tags", fill("<tool_call>set_light<arg_key>a</arg_key><arg_value>")
    yield "bare braces", fill('{"name": "x", ')
    yield "plain calls", fill("set_light(room=")
    yield "fences", fill('```json\n{"name": "set_light", "arguments": {')
    yield "think blocks", fill("<think>a</think>b")
    yield "white space behind a call", '<tool_call>{"name": "get_time", "arguments": {}}' + " " * size
    yield "white space in a list", '<tool_call>[{"name": "get_time", "arguments": {}},' + " " * size
    yield "white space behind a name", "<tool_call>get_time" + " " * size
    yield "brackets behind a call", '<tool_call>{"name": "get_time", "arguments": {}}' + "}" * size
    yield "gemma quotes", fill('<|tool_call>call:set_light{room:<|"|>')
    yield "prose", fill("Well, the light (in the hall) is on; it's 5 o'clock. ")


def measure_us(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """The median processor time of one run, in microseconds: what else the machine does is not counted."""
    work()
    times = []
    for _ in range(rounds):
        started = time.process_time_ns()
        work()
        times.append(time.process_time_ns() - started)
    return statistics.median(times) / 1000


def measure_s(raw: str, parsers: tuple[str, ...], chunk: int) -> float:
    """The processor time of one reply, in seconds; the best of three where one is soon done."""
    best_s = float("inf")
    for _ in range(3):
        started = time.process_time()
        parse(raw, parsers, TOOLS, chunk)
        best_s = min(best_s, time.process_time() - started)
        if best_s > SOON_S:
            break
    return best_s


def run_speed(report: dict[str, Any]) -> None:
    arguments = CALL.arguments
    baseline = measure_us(lambda: json.loads(arguments))
    report["json_loads_us"] = round(baseline, 2)
    print(f"json.loads of the same arguments: {baseline:.1f} µs\n")
    print(f"{'format':16}{'batch µs':>10}{'4-char µs':>12}")
    for name, detector in DETECTORS.items():
        raw = detector().render([CALL])
        for chunk in (0, 4):
            calls = parse(raw, (name,), TOOLS, chunk).calls
            assert [call.arguments for call in calls] == [arguments], (name, calls)
        batch = measure_us(lambda raw=raw, name=name: parse(raw, (name,), TOOLS, 0))  # type: ignore[misc]
        streamed = measure_us(lambda raw=raw, name=name: parse(raw, (name,), TOOLS, 4), ROUNDS // 4)  # type: ignore[misc]
        report.setdefault("formats", {})[name] = {"batch_us": round(batch, 1), "streamed_us": round(streamed, 1)}
        print(f"{name:16}{batch:10.1f}{streamed:12.1f}")


def run_growth(report: dict[str, Any], sizes_kb: tuple[int, ...]) -> None:
    parsers = tuple(name for name in DETECTORS if name != "json_bare")
    print(f"\ngrowth, whole chain, seconds for {sizes_kb[-1]} kB and the worst ratio per doubling from 64 kB on")
    for index, (case, _) in enumerate(adversarial(64)):
        row = {}
        for mode, chunk in (("batch", 0), ("streamed", 4)):
            times = []
            for size_kb in sizes_kb:
                raw = list(adversarial(size_kb * 1024))[index][1]
                times.append(measure_s(raw, parsers, chunk))
            large = [
                later / earlier for earlier, later, kb in zip(times, times[1:], sizes_kb, strict=False) if kb >= 64
            ]
            row[mode] = {"seconds": round(times[-1], 3), "worst_ratio": round(max(large, default=0.0), 2)}
        report.setdefault("growth", {})[case] = row
        print(
            f"{case:36} batch {row['batch']['seconds']:7.3f} s ×{row['batch']['worst_ratio']:4.2f}"
            f"   streamed {row['streamed']['seconds']:7.3f} s ×{row['streamed']['worst_ratio']:4.2f}"
        )


def is_right(case: dict[str, Any], reply: ParsedReply) -> bool:
    """Whether the calls are the expected ones; a call that carries an error counts as it stands."""
    expected = case.get("expected_calls") or []
    if len(expected) != len(reply.calls):
        return False
    for wanted, call in zip(expected, reply.calls, strict=True):
        arguments = json.loads(call.arguments)
        if wanted["name"] != call.name or ("id" in wanted and wanted["id"] != call.id):
            return False
        if "arguments" in wanted and wanted["arguments"] != arguments:
            return False
        if any(arguments.get(key) != value for key, value in (wanted.get("arguments_subset") or {}).items()):
            return False
    return True


def run_corpus(path: Path, *, show: bool) -> None:
    counts: dict[tuple[str, str], dict[int, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for line in path.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        parser = case["format"] if case["format"] in DETECTORS else CHAINS.get(case["subformat"])
        if parser is None:
            continue
        group = case["format"] if case["format"] in DETECTORS else case["subformat"]
        for chunk in CHUNKS:
            reply = parse(case["raw_output"], (parser,), case.get("tools"), chunk)
            right = is_right(case, reply)
            counts[case["bucket"], group][chunk].append(right)
            if show and not right and chunk == 0:
                print(case["id"], case["bucket"], json.dumps(case["raw_output"], ensure_ascii=False)[:300])
                print("   wanted", case.get("expected_calls"), "\n   got   ", reply)
    print(f"{'bucket':8}{'format':16}{'cases':>6}" + "".join(f"{'batch' if c == 0 else f'by {c}':>8}" for c in CHUNKS))
    for (bucket, group), by_chunk in sorted(counts.items()):
        print(f"{bucket:8}{group:16}{len(by_chunk[0]):6}" + "".join(f"{sum(by_chunk[c]):8}" for c in CHUNKS))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--corpus", type=Path, help="score a corpus instead")
    options.add_argument("--show", action="store_true", help="print the cases that are read wrong")
    options.add_argument("--quick", action="store_true", help="growth to 128 kB only")
    options.add_argument("--out", type=Path, help="write the figures as JSON too")
    chosen = options.parse_args()
    if chosen.corpus is not None:
        run_corpus(chosen.corpus, show=chosen.show)
        return
    report: dict[str, Any] = {"machine": platform.machine(), "python": platform.python_version()}
    run_speed(report)
    run_growth(report, GROWTH_KB[:8] if chosen.quick else GROWTH_KB)
    if chosen.out is not None:
        chosen.out.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
