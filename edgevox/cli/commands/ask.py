"""`edgevox ask`, `say` and `transcribe`: one request, to the running assistant if there is one."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

from edgevox.agents import AgentResult
from edgevox.app.control.client import PendingRequest, request
from edgevox.app.control.protocol import TEXT_CHARS, Ask, Say, audio_from_note
from edgevox.app.runtime import AssistantRuntime
from edgevox.audio.files import read_audio, write_wav
from edgevox.audio.io.speaker import Speaker
from edgevox.cli.assistant import open_runtime, report_record_error
from edgevox.cli.command import JSON, MCP_OPTIONS, MODEL_OPTIONS, Command, argument, one_of, setting
from edgevox.cli.context import Context, read_json, run_until_done, stdin_lines
from edgevox.cli.ui.keyboard import keyboard, print_question, typed_yes_no
from edgevox.cli.ui.mcp_approval import approve_servers
from edgevox.core import types
from edgevox.core.errors import ConfigError, EdgevoxError, NotRunning, OtherSettings
from edgevox.core.events import ConfirmationRequired, Event
from edgevox.core.turn import CancelFlag, Turn, background_task
from edgevox.llm.tool_choice import RESPOND, RESPOND_NAME, plan_hop
from edgevox.llm.tool_parsers import parse_reply

# Prefixes of the settings that affect an answer, and speech.
_ASK_SETTINGS = ("preset", "llm.", "tools.", "home.", "mqtt.", "plugins.", "mcp.", "memory.", "records.")
_SAY_SETTINGS = ("tts.",)


async def ask_running_assistant(context: Context, text: str) -> types.JsonObject | None:
    """Return its answer; None if it is not running or runs with other settings. Raises EdgevoxError."""
    overrides = _overrides(context, _ASK_SETTINGS)
    wanted = Ask(text=text, overrides=overrides, can_answer=sys.stdin.isatty())
    try:
        async with (
            request(context.folders.runtime, wanted) as pending,
            _forward_typed_answers(pending, context) as question_shown,
        ):
            async for note in pending.notes():
                if note["kind"] == "question":
                    print_question(context, note["text"])
                    question_shown.set()
                elif note["kind"] == "done":
                    return note
    except (NotRunning, OtherSettings):
        pass
    return None


async def say_on_running_assistant(context: Context, text: str, *, return_audio: bool) -> list[types.Audio] | None:
    """Make it speak or return the audio; None if it is not running, or the text is too long. Raises EdgevoxError."""
    if len(text) > TEXT_CHARS:
        return None
    overrides = _overrides(context, _SAY_SETTINGS)
    wanted = Say(text=text, overrides=overrides, where="here" if return_audio else "loudspeaker")
    try:
        async with request(context.folders.runtime, wanted) as pending:
            return [audio_from_note(note) async for note in pending.notes() if note["kind"] == "sound"]
    except (NotRunning, OtherSettings):
        return None


def _overrides(context: Context, prefixes: Sequence[str]) -> dict[str, object]:
    """Return the settings under these prefixes that flags or the environment set for this command."""
    settings = context.settings
    values = settings.model_dump(mode="json")
    found: dict[str, object] = {}
    for name, source in settings.sources.items():
        if source.layer in ("flag", "environment") and name.startswith(tuple(prefixes)):
            section, _, key = name.partition(".")
            found[name] = values[section][key] if key else values[section]
    return found


@asynccontextmanager
async def _forward_typed_answers(pending: PendingRequest, context: Context) -> AsyncIterator[asyncio.Event]:
    """Forward typed yes or no once the event is set; earlier input is left to the shell."""
    question_shown = asyncio.Event()

    async def read() -> None:
        await question_shown.wait()
        async for line in stdin_lines(lambda: None):
            answer = typed_yes_no(line)
            if answer == "unclear":
                context.err.print("yes or no?", end=" ")
            else:
                pending.answer(granted=answer == "yes")

    async with background_task(read()):
        yield question_shown


_CHOICES = ("auto", "none", "required")


@Command(
    "ask",
    "Ask one question and print the answer",
    argument("text", nargs="+", help="the question"),
    JSON,
    one_of(
        argument("--tools", type=Path, metavar="FILE", help="offer these tools (a JSON list) and print the calls"),
        argument("--json-schema", type=Path, metavar="FILE", help="answer with JSON that matches this schema"),
    ),
    argument("--tool-choice", default="auto", metavar="CHOICE", help="auto, none, required, or a tool name"),
    *MODEL_OPTIONS,
    *MCP_OPTIONS,
)
def ask(args: argparse.Namespace, context: Context) -> int:
    turn = Turn()
    text = " ".join(args.text)
    runtime: AssistantRuntime | None = None
    try:
        form = _OutputFormat(args)
        if not 0 < len(text.strip()) <= TEXT_CHARS:
            raise ConfigError(
                "the question is empty"
                if not text.strip()
                else f"the question has more than {TEXT_CHARS:,} characters",
                hint='ask like this: edgevox ask "which lights are on"',
            )
        answer = None if form.is_given else run_until_done(ask_running_assistant(context, text))
        if answer is None:
            if not form.is_given:
                approve_servers(context)
            runtime = open_runtime(context, ["llm"])
            asked = _ask_with_format(runtime, text, form, turn) if form.is_given else _ask(runtime, context, text, turn)
            answer = _answer(runtime, turn, run_until_done(asked))
    except EdgevoxError as error:
        if args.json:
            context.write_json(_failed_answer(context, turn, error), indent=None)
        raise
    if args.json:
        fields = {key: value for key, value in answer.items() if key != "kind"}
        context.write_json(fields | {"error": None}, indent=None)
    else:
        print_answer(context, answer, calls_are_result=form.is_given)
    return report_record_error(context, runtime) if runtime else 0


def print_answer(context: Context, answer: types.JsonObject, *, calls_are_result: bool) -> None:
    """Print the reply; its calls are part of the result, or a remark about what was done."""
    if answer["reply"]:
        context.write(answer["reply"])
    for call in answer["tool_calls"]:
        text = call.get("summary") or f"{call['name']} {json.dumps(call['arguments'])}"
        if calls_are_result:
            context.write(text)
        else:
            context.note(text, style="dim")


class _OutputFormat:
    """Tools or JSON schema for the answer. Raises ConfigError for an invalid file or tool choice."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.is_given = bool(args.tools or args.json_schema)
        self.schema: types.JsonObject | None = read_json(args.json_schema, dict) if args.json_schema else None
        self.tools: tuple[types.JsonObject, ...] = tuple(read_json(args.tools, list)) if args.tools else ()
        names = [_tool_name(tool, args.tools) for tool in self.tools]
        match args.tool_choice:
            case "auto" | "none" | "required":
                self.choice: types.ToolChoice = args.tool_choice
            case name if name in names:
                self.choice = types.NamedTool(name)
            case name:
                raise ConfigError(
                    f"unknown tool {name} in {args.tools}", hint=f"--tool-choice takes {', '.join((*_CHOICES, *names))}"
                )


def _tool_name(tool: object, path: Path) -> str:
    match tool:
        case {"function": {"name": str(name)}}:
            return name
    raise ConfigError(f"{path} contains an invalid tool definition", hint="see docs/guide/grammars.md")


async def _ask(runtime: AssistantRuntime, context: Context, text: str, turn: Turn) -> AgentResult:
    question_shown = asyncio.Event()  # earlier input is left to the shell

    def show(event: Event) -> None:
        if isinstance(event, ConfirmationRequired):
            print_question(context, event.question)
            question_shown.set()

    async with runtime:
        pipeline = runtime.pipeline()
        with runtime.bus.listening(show):
            async with keyboard(pipeline, lambda text: context.err.print(text, end=" "), begin=question_shown):
                return await pipeline.answer(text, turn)


async def _ask_with_format(runtime: AssistantRuntime, text: str, form: _OutputFormat, turn: Turn) -> AgentResult:
    preset, llm = runtime.preset, runtime.settings.llm
    plan = plan_hop(form.tools, policy=preset.tool_choice_policy, hop=0, choice=form.choice)
    request = types.ChatRequest(
        (types.Message("system", llm.instructions), types.Message("user", text)),
        tools=plan.tools,
        sampling=llm.sampling,
        stop=preset.stop,
        thinking=llm.thinking,
        tool_choice=plan.tool_choice,
        wire_format=preset.tool_call_parsers[0],
        json_schema=form.schema,
    )
    written = ""
    done: types.ChatDone | None = None
    async with runtime, aclosing(runtime.engines.llm.stream(request, turn.cancel)) as events:
        async for event in events:
            match event:
                case types.ChatDelta():
                    written += event.text
                case types.ChatDone():
                    done = event
    assert done is not None
    if form.schema is not None:
        return AgentResult(written, (), done.finish_reason)
    read = parse_reply(written, preset_parsers=preset.tool_call_parsers, tools=[dict(tool) for tool in plan.tools])
    calls = [types.ToolCall(call.id, call.name, call.arguments) for call in read.calls if call.error is None]
    replies = [call for call in calls if call.name == RESPOND_NAME and RESPOND not in form.tools]
    answer = " ".join((read.text.strip(), *(json.loads(call.arguments)["text"] for call in replies))).strip()
    tool_calls = tuple(call for call in calls if call not in replies)
    return AgentResult(answer, tool_calls, "tool_calls" if tool_calls else done.finish_reason)


def _answer(runtime: AssistantRuntime, turn: Turn, result: AgentResult) -> types.JsonObject:
    timings_ms = runtime.records.last.timings_ms if runtime.records.last is not None else {}
    facts = {"turn_id": turn.id, "preset": runtime.preset.name, **result.as_json()}
    return {**facts, "error": None, "timings_ms": timings_ms}


def _failed_answer(context: Context, turn: Turn, error: EdgevoxError) -> dict[str, object]:
    return {
        "turn_id": turn.id,
        "preset": context.chosen_preset,
        "reply": "",
        "tool_calls": [],
        "finish_reason": "error",
        "error": {"code": error.code, "message": error.message, "hint": error.hint},
        "timings_ms": {},
    }


@Command(
    "say",
    "Speak a text, or write it to a WAV file",
    argument("text", nargs="+", help='the text; "-" reads standard input'),
    argument("-o", "--output", type=Path, metavar="FILE", help="write a WAV file instead"),
    setting("--voice", "tts.voice", "ID", "voice to use (see edgevox models list)"),
    setting("--speed", "tts.speed", "X", "speaking rate; 1.0 is normal, higher is faster"),
)
def say(args: argparse.Namespace, context: Context) -> None:
    text = sys.stdin.read() if args.text == ["-"] else " ".join(args.text)
    if not any(char.isalnum() for char in text):
        raise ConfigError("the text contains nothing to say", hint='edgevox say "Hello."')
    sounds = run_until_done(say_on_running_assistant(context, text, return_audio=bool(args.output)))
    if sounds is None:
        # Opened before any download: without a loudspeaker the command fails early, and -o is the alternative.
        speaker = None if args.output else context.speaker()
        runtime = open_runtime(context, ["tts"])
        if speaker:
            run_until_done(play_speech(runtime, text, speaker))
        else:
            sounds = run_until_done(collect_speech(runtime, text, runtime.engines.voice_languages[0]))
    if args.output:
        write_wav(args.output, sounds or ())
        context.note(f"wrote {args.output}")


async def collect_speech(runtime: AssistantRuntime, text: str, language: str) -> list[types.Audio]:
    """Return the audio of a text in the voice of that language. Raises EngineFailed."""
    async with runtime, aclosing(runtime.voice().speak_text(text, CancelFlag(), language)) as sounds:
        return [sound async for sound in sounds]


async def play_speech(runtime: AssistantRuntime, text: str, speaker: Speaker) -> None:
    """Speak a text in the default voice. Raises EngineFailed and DeviceUnavailable."""
    cancel = CancelFlag()
    try:
        language = runtime.engines.voice_languages[0]
        async with runtime, aclosing(runtime.voice().speak_text(text, cancel, language)) as sounds:
            await speaker.play(sounds, cancel)
    finally:
        cancel.set()


@Command(
    "transcribe",
    "Transcribe an audio file",
    argument("file", type=Path, help="WAV, FLAC, MP3, OGG or any other format that FFmpeg reads"),
    JSON,
    setting("--language", "stt.language", None, 'language code such as "de", or "auto" to detect it'),
    setting("--model", "stt.model", "ID", "model: whisper-base or whisper-tiny.en"),
)
def transcribe(args: argparse.Namespace, context: Context) -> None:
    audio = read_audio(args.file)
    transcript, ms = run_until_done(_transcribe(open_runtime(context, ["stt"]), audio))
    if args.json:
        duration_s = round(transcript.duration_s, 3)
        facts = {"text": transcript.text, "language": transcript.language, "duration_s": duration_s, "ms": ms}
        context.write_json(facts, indent=None)
    elif transcript.text:
        context.write(transcript.text)
    else:
        context.note(f"no speech in {args.file} ({transcript.dropped})")


async def _transcribe(runtime: AssistantRuntime, audio: types.Audio) -> tuple[types.Transcript, float]:
    async with runtime:
        started_s = time.monotonic()
        transcript = await runtime.transcriber().transcribe(audio, CancelFlag())
        return transcript, round((time.monotonic() - started_s) * 1000, 1)
