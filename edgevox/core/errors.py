"""The error hierarchy. Each error carries a stable `code`, and a `hint` that says what the user can do.

EdgevoxError
├ ConfigError            invalid setting, preset or command line
├ AudioError             sound could not be read, recorded or played
│ ├ DeviceUnavailable    no such microphone or loudspeaker, or no PortAudio
│ └ SoundStuck           PortAudio hangs; only a new process can record again
├ ModelError             a model cannot be used
│ ├ ModelMissing         not downloaded, or not available
│ ├ ModelDownloadFailed  no network, the hub refused, the disk is full
│ ├ ChecksumMismatch     a file does not match the manifest
│ ├ ContextOverflow      the conversation exceeds the context window
│ └ GrammarRejected      llama.cpp cannot compile a grammar
├ EngineFailed           a native engine died or hangs (it is being restarted)
├ StateError             the state folder cannot be written
├ PlatformUnsupported    the operating system lacks a required feature
├ ControlError           the running assistant is unreachable, or refuses
│ ├ NotRunning           no assistant is running
│ ├ AlreadyRunning       only one instance may run
│ └ OtherSettings        the running assistant has different settings
└ ToolError              a tool failed; its message is for the model and the user
  ├ UnknownTool          no tool of that name
  ├ InvalidArguments     arguments that do not fit the tool's schema
  ├ ToolTimeout          no result in time (it may still take effect)
  └ ToolDenied           not allowed, or not confirmed

Cancellation is how a turn ended, not an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from pydantic import ValidationError


# Name of a file in the temporary folder with the traceback of a bug: prefix and suffix.
CRASH_FILE = ("edgevox-", ".traceback")


class EdgevoxError(Exception):
    """Base class. `exit_code` is the exit status of a command (docs/guide/commands.md)."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments do not survive pickling by default, and errors cross process boundaries.
        return _rebuild, (type(self), self.message, self.hint)


def _rebuild(kind: type[EdgevoxError], message: str, hint: str) -> EdgevoxError:
    return kind(message, hint=hint)


class ConfigError(EdgevoxError):
    code = "config_error"
    exit_code = 2


class AudioError(EdgevoxError):
    code = "audio_error"
    exit_code = 4


class DeviceUnavailable(AudioError):
    code = "device_unavailable"


class SoundStuck(AudioError):
    code = "sound_stuck"


class ModelError(EdgevoxError):
    code = "model_error"
    exit_code = 3


class ModelMissing(ModelError):
    code = "model_missing"


class ModelDownloadFailed(ModelError):
    code = "model_download_failed"


class ChecksumMismatch(ModelError):
    code = "checksum_mismatch"


class ContextOverflow(ModelError):
    code = "context_overflow"


class GrammarRejected(ModelError):
    code = "grammar_rejected"


class EngineFailed(EdgevoxError):
    code = "engine_failed"
    exit_code = 5


class StateError(EdgevoxError):
    code = "state_error"
    exit_code = 6


class PlatformUnsupported(EdgevoxError):
    code = "platform_unsupported"


class ControlError(EdgevoxError):
    code = "control_error"
    exit_code = 7


class NotRunning(ControlError):
    code = "not_running"


class AlreadyRunning(ControlError):
    code = "already_running"


class OtherSettings(ControlError):
    code = "other_settings"


class ToolError(EdgevoxError):
    code = "tool_error"


class UnknownTool(ToolError):
    code = "bad_request"


class InvalidArguments(ToolError):
    code = "bad_request"


class ToolTimeout(ToolError):
    code = "timeout"


class ToolDenied(ToolError):
    code = "tool_denied"


def describe_faults(error: ValidationError) -> str:
    """Return the faults that pydantic found, each with the dotted path of its key."""
    faults = []
    for fault in error.errors(include_url=False, include_context=False):
        key = ".".join(map(str, fault["loc"]))
        what = "unknown key" if fault["type"] == "extra_forbidden" else fault["msg"]
        faults.append(f"{key}: {what}" if key else what)
    return "; ".join(faults)
