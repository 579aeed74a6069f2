"""`edgevox doctor`: checks every part and says how to fix each problem."""

from __future__ import annotations

import argparse
import ipaddress
import os
import platform
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import aclosing, closing
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from rich.text import Text

from edgevox import __version__
from edgevox.agents.memory_file import FILE_NAME as MEMORY_FILE
from edgevox.agents.memory_file import MemoryFile
from edgevox.app.runtime import AssistantRuntime
from edgevox.app.toolbox import Toolbox
from edgevox.audio.io.devices import portaudio
from edgevox.cli.command import Command, argument
from edgevox.cli.commands.history import retention
from edgevox.cli.commands.home import left_out_text, measure_connection
from edgevox.cli.context import Context, run_until_done
from edgevox.config import LlmSettings
from edgevox.config.sections import AUTO
from edgevox.core.errors import EdgevoxError, StateError
from edgevox.core.events import EngineName
from edgevox.core.files import damaged_files, private_folder
from edgevox.core.languages import ENGLISH, LANGUAGES
from edgevox.core.platform import anonymous_bytes, processor_name, usable_cores
from edgevox.core.turn import CancelFlag, Turn
from edgevox.core.types import ChatDone, ChatRequest, Message
from edgevox.engines.threads import plan_threads
from edgevox.home.backends.factory import open_home
from edgevox.llm.tool_choice import RESPOND
from edgevox.models import ModelStore, open_store
from edgevox.models.optimise import fastest_copy_type, known_speeds, turn_cpu_s
from edgevox.server.http.listener import port_is_free
from edgevox.server.http.tokens import Tokens, token_file, token_scopes
from edgevox.tools.mcp.config import configured_servers

Verdict: TypeAlias = Literal["ok", "note", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check; a note does not need to be fixed."""

    verdict: Verdict
    part: str
    detail: str
    fix: str = ""

    @classmethod
    def problem(cls, part: str, error: EdgevoxError) -> Finding:
        return cls("problem", part, error.message, error.hint)


_GUIDE = "docs/guide/remote.md lists servers that support it"


async def check_remote_engines(runtime: AssistantRuntime) -> list[Finding]:
    """Probe each remote engine once."""
    findings = []
    for engine, address in runtime.engines.remote_addresses().items():
        part = f"remote {engine}"
        started_s = time.monotonic()
        try:
            await runtime.engines.probe(engine)
        except EdgevoxError as error:
            findings.append(Finding.problem(part, error))
            continue
        took_ms = (time.monotonic() - started_s) * 1000
        findings.append(Finding("ok", part, f"{address} answered in {took_ms:.0f} ms"))
        if is_unencrypted(address):
            detail = f"speech, text and API keys go to {urlsplit(address).hostname} unencrypted"
            findings.append(Finding("note", part, detail, "use https on a network that you share"))
    return findings


async def check_forced_calls(runtime: AssistantRuntime) -> Finding:
    """Check whether the server enforces `tool_choice = "required"`."""
    request = ChatRequest(
        (Message("user", "Say hello."),),
        tools=(RESPOND,),
        tool_choice="required",
        wire_format=runtime.preset.tool_call_parsers[0],
        sampling=runtime.settings.llm.sampling,
    )
    warnings: tuple[str, ...] = ()
    async with aclosing(runtime.engines.llm.stream(request, CancelFlag())) as replies:
        async for reply in replies:
            if isinstance(reply, ChatDone):
                warnings = reply.warnings
    if warnings:
        return Finding("note", "remote llm", "; ".join(warnings), _GUIDE)
    return Finding("ok", "remote llm", "enforces required tool calls")


def is_unencrypted(address: str) -> bool:
    """Return whether traffic to this address leaves the machine unencrypted."""
    parts = urlsplit(address)
    if parts.scheme == "https":
        return False
    host = parts.hostname or ""
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host != "localhost"


_MARKS: dict[Verdict, tuple[str, str]] = {"ok": ("✓", "green"), "note": ("•", "yellow"), "problem": ("✗", "red")}
_ENGINES: tuple[EngineName, ...] = ("llm", "tts", "stt")
_SENTENCE = "Please turn on the light in the kitchen."
_ANY_LANGUAGE_SENTENCE = "1, 2, 3."


@Command(
    "doctor",
    "Check the installation and suggest fixes",
    argument("--quick", action="store_true", help="skip the checks that load models"),
)
def doctor(args: argparse.Namespace, context: Context) -> int:
    problems = 0
    for finding in _check_all(context, quick=args.quick):
        problems += finding.verdict == "problem"
        mark, style = _MARKS[finding.verdict]
        text = Text.assemble((mark, style), " ", (finding.part, "bold"), f"  {finding.detail}")
        context.out.print(text, soft_wrap=True)
        if finding.fix:
            context.print(f"    → {finding.fix}")
    result = "everything works" if not problems else f"{problems} problem{'s' if problems > 1 else ''}"
    context.print(result, style="bold")
    return 1 if problems else 0


def _check_all(context: Context, *, quick: bool) -> Iterator[Finding]:
    yield Finding("ok", "edgevox", f"{__version__} on Python {platform.python_version()}, {platform.machine()}")
    yield from _check("settings", lambda: _settings(context))
    yield from _check("state folder", lambda: _state_folder(context.folders.state))
    yield from _check("conversations", lambda: _conversations(context))
    yield from _check("sound", _sound)
    if context.chosen_preset is None:
        yield Finding("note", "models", "not checked, because the settings are invalid")
        return
    yield from _check("home", lambda: _home(context))
    yield from _check("server", lambda: _server(context))
    yield from _check("tokens", lambda: _tokens(context))
    yield from _tools(context)
    yield _constraints(context.settings.llm)
    store = open_store(context.folders)
    part = "preset"
    try:
        runtime = AssistantRuntime(context.settings, context.folders, store, _ENGINES)
        part = "models"
        models = {model: store.has(model) for model in runtime.models.needed()}
    except EdgevoxError as error:
        yield Finding.problem(part, error)
        return
    yield _languages(runtime)
    for model, is_stored in models.items():
        if is_stored:
            yield Finding("ok", model, str(store.path(model)))
        else:
            yield Finding("problem", model, "not downloaded", f"edgevox models pull {model}")
    yield from _check("processor", lambda: _processor(store))
    remote = run_until_done(check_remote_engines(runtime))
    yield from remote
    skipped = {
        "models are missing": not all(models.values()),
        "--quick": quick,
        "a remote engine failed": any(finding.verdict == "problem" for finding in remote),
    }
    if why := next((reason for reason, applies in skipped.items() if applies), None):
        yield Finding("note", "engines", f"not tested: {why}")
        return
    try:
        yield from run_until_done(_test_engines(runtime))
    except EdgevoxError as error:
        yield Finding.problem("engines", error)


def _check(part: str, examine: Callable[[], Finding]) -> Iterator[Finding]:
    try:
        yield examine()
    except EdgevoxError as error:
        yield Finding.problem(part, error)


def _settings(context: Context) -> Finding:
    settings, file = context.settings, context.folders.config_file
    where = str(file) if file.exists() else "defaults (`edgevox config init` writes a file)"
    return Finding("ok", "settings", f"preset {settings.preset}, {where}")


def _state_folder(folder: Path) -> Finding:
    try:
        private_folder(folder)
        with tempfile.TemporaryFile(dir=folder):
            pass
        free_mb = shutil.disk_usage(folder).free // 1_000_000
    except OSError as error:
        raise StateError(
            f"{folder} cannot be written: {error.strerror}",
            hint="make it writable, or set EDGEVOX_STATE_DIR to another folder",
        ) from error
    return Finding("ok", "state folder", f"{folder}, {free_mb:,} MB free")


def _conversations(context: Context) -> Finding:
    folder = context.folders.state
    kept = 0
    if file := MemoryFile.open_to_read(folder):
        with closing(file):
            kept = file.count()
    detail = f"{kept} turns stored in {folder}. {retention(context.settings.memory)}"
    if damaged := damaged_files(folder / MEMORY_FILE):
        return Finding("note", "conversations", f"{detail} A damaged file was set aside: {damaged[-1].name}")
    return Finding("ok", "conversations", detail)


def _sound() -> Finding:
    sounddevice = portaudio()
    devices = sounddevice.query_devices()
    inputs = sum(device["max_input_channels"] > 0 for device in devices)
    outputs = sum(device["max_output_channels"] > 0 for device in devices)
    detail = f"PortAudio works; microphones: {inputs}, loudspeakers: {outputs}"
    if inputs and outputs:
        return Finding("ok", "sound", detail)
    return Finding("note", "sound", f"{detail}; replies can still be read as text")


def _home(context: Context) -> Finding:
    house, seconds = run_until_done(measure_connection(open_home(context.settings, context.folders)))
    if context.settings.home.kind == "demo":
        return Finding("ok", "home", "demo home; edgevox home setup connects yours")
    detail = f"connected in {seconds:.1f} s: {len(house.entities)} entities"
    if house.left_out:
        return Finding("note", "home", f"{detail}; {left_out_text(house)}")
    return Finding("ok", "home", detail)


def _server(context: Context) -> Finding:
    server, file = context.settings.server, token_file(context.folders)
    kept = f"tokens in {file}" if file.exists() else "tokens are created at the first start"
    where = f"{server.host}, port {server.port}"
    if port_is_free(server.host, server.port):
        return Finding("ok", "server", f"{where} is free; {kept}")
    return Finding(
        "note",
        "server",
        f"{where} is in use or not a local address; {kept}",
        "fine if edgevox is already serving there; otherwise set server.port or stop the other program",
    )


def _tokens(context: Context) -> Finding:
    """Check the token file. Raises ConfigError if other users can read it."""
    file = token_file(context.folders)
    if file.exists():
        Tokens.read(file)
    names = list(token_scopes(file)) if file.exists() else []
    if len(names) != 1:
        return Finding("ok", "tokens", ", ".join(names) or "created at the first start of the server")
    return Finding(
        "note",
        "tokens",
        f"only one, {names[0]}: a program that has it can confirm its own calls",
        "edgevox tokens add NAME makes one for a program, which cannot",
    )


def _tools(context: Context) -> Iterator[Finding]:
    toolbox = Toolbox(context.settings, context.folders)
    if toolbox.unknown_names:
        yield Finding("note", "tools", f"unknown tools in the settings: {', '.join(toolbox.unknown_names)}")
    reports = toolbox.plugins.reports()
    active = [report.name for report in reports if report.status == "on"]
    yield Finding("ok", "plugins", ", ".join(active) or "none")
    for report in reports:
        part = f"plugin {report.name}"
        match report.status:
            case "disabled":
                yield Finding("problem", part, f"disabled: {report.reason}", report.fix)
            case "off":
                yield Finding("note", part, "switched off in the settings")
            case "on" if report.trouble:
                yield Finding("problem", part, f"disabled during its last run: {report.trouble}", report.fix)
    for name in toolbox.plugins.unknown_tables():
        yield Finding("note", f"plugin {name}", f"not installed, but the settings have [plugins.{name}]")
    yield from _check("MCP servers", lambda: _servers(context))
    for server in toolbox.mcp.reports():
        fix = f"edgevox mcp approve {server.id}"
        if server.status == "unapproved":
            yield Finding("note", f"MCP server {server.id}", "not approved, so not started", fix)
        if server.waiting:
            changed = ", ".join(server.waiting)
            yield Finding("note", f"MCP server {server.id}", f"changed since approval, so not offered: {changed}", fix)


def _servers(context: Context) -> Finding:
    servers = configured_servers(context.settings.mcp, context.folders)
    return Finding("ok", "MCP servers", ", ".join(server.id for server in servers) or "none")


def _constraints(llm: LlmSettings) -> Finding:
    if llm.remote_url is not None:
        detail = "the model server constrains tool calls, as far as it can"
    elif llm.constraint_engine == "llguidance":
        detail = f"llguidance {version('llguidance')} constrains tool calls"
    else:
        detail = "llama.cpp's grammar sampler constrains tool calls (llm.constraint_engine)"
    return Finding("ok", "constraints", detail)


def _processor(store: ModelStore) -> Finding:
    """Report the processor and the weight type for optimised copies."""
    threads = plan_threads()
    name = f"{processor_name()}, {usable_cores()} cores, {threads.llm_prompt} threads for prompts"
    known = known_speeds(store)
    if known is None:
        return Finding("note", "processor", f"{name}; weight types will be measured at the first start")
    best = fastest_copy_type(known.speeds)
    turns = ", ".join(
        f"{kind} {turn_cpu_s(speed) * 1000:.0f} ms"
        for kind, speed in sorted(known.speeds.items(), key=lambda item: turn_cpu_s(item[1]))
    )
    return Finding("ok", "processor", f"{name}; optimised copies use {best} (turn of a small model: {turns})")


async def _test_engines(runtime: AssistantRuntime) -> list[Finding]:
    """Run each engine once: each voice speaks, Whisper transcribes that, the model answers."""
    async with runtime:
        findings = []
        for language in runtime.engines.voice_languages:
            sound = await runtime.voice().sound_of(_ANY_LANGUAGE_SENTENCE, language)
            spoke = f"synthesized {sound.duration_s:.1f} s of {LANGUAGES[language]}"
            findings.append(Finding("ok", "tts", spoke))
        sound = await runtime.voice().sound_of(_SENTENCE)
        transcript = await runtime.transcriber().transcribe(sound, CancelFlag())
        spoken = runtime.engines.voice_languages
        hears_english = runtime.settings.stt.language in (ENGLISH, AUTO) and ENGLISH in spoken
        findings.append(_transcript_check(transcript.text, must_match=hears_english))
        result = await runtime.pipeline().answer("Say hello.", Turn())
        record = runtime.records.last
        assert record is not None
        findings.append(Finding("ok", "llm", f"generated {len(result.reply)} characters in {record.total_ms:.0f} ms"))
        if runtime.settings.llm.remote_url is not None:
            findings.append(await check_forced_calls(runtime))
        findings.append(_memory(runtime))
        return findings


def _languages(runtime: AssistantRuntime) -> Finding:
    """Report the reply languages; a note if a spoken language gets replies in another one."""
    spoken = runtime.settings.stt.language
    heard = "any language" if spoken == AUTO else LANGUAGES[spoken]
    candidates = LANGUAGES if spoken == AUTO else (spoken,)
    reply_to = runtime.engines.languages.reply_to
    answered = [name for language, name in LANGUAGES.items() if reply_to(language) == language in candidates]
    if answered:
        return Finding("ok", "languages", f"understands {heard}, replies in {', '.join(answered)}")
    return Finding(
        "note",
        "languages",
        f"understands {heard}, replies in {LANGUAGES[reply_to(spoken)]}",
        "docs/guide/languages.md explains what replies in a language need",
    )


def _transcript_check(text: str, *, must_match: bool) -> Finding:
    """Check the transcript of the English test sentence; it may differ if Whisper expects another language."""
    if "kitchen" in text.lower() or not must_match:
        return Finding("ok", "stt", f"transcribed “{text}”")
    return Finding("problem", "stt", f"transcribed “{text}” instead of “{_SENTENCE}”", "edgevox models verify")


def _memory(runtime: AssistantRuntime) -> Finding:
    pids = [os.getpid(), *(pid for engine in _ENGINES if (pid := runtime.engines.pid(engine)))]
    used_mb = sum(map(anonymous_bytes, pids)) / 1_000_000
    return Finding("ok", "memory", f"{used_mb:.0f} MB in {len(pids)} processes")
