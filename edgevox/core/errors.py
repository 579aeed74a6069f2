"""Every error a user can meet. Each carries a stable `code`, and a `hint` that says what to do.

EdgevoxError
├ ConfigError            a setting, a preset or a command line that cannot be used
├ AudioError             sound could not be read, recorded or played
│ ├ DeviceUnavailable    no such microphone or loudspeaker, or no PortAudio
│ └ SoundStuck           PortAudio hangs: only a new process hears again
├ ModelError             a model cannot be used
│ ├ ModelMissing         not downloaded, or not to be had
│ ├ ModelDownloadFailed  no network, the hub refused, the disk is full
│ ├ ChecksumMismatch     a file is not what the manifest says
│ ├ ContextOverflow      the conversation does not fit
│ └ GrammarRejected      a grammar that llama.cpp cannot compile
├ EngineFailed           a native engine died or stopped answering (it is being restarted)
├ StateError             the state folder cannot be written
├ PlatformUnsupported    this operating system lacks what it takes
├ ControlError           the assistant that runs cannot be spoken to, or refuses
│ ├ NotRunning           there is none
│ ├ AlreadyRunning       there is one, and there can be only one
│ └ OtherSettings        it does not work the way it is asked to
└ ToolError              a tool could not do its work; its message is for the model and the user
  ├ UnknownTool          no tool of that name
  ├ InvalidArguments     arguments that do not fit the tool's schema
  ├ ToolTimeout          no answer in time (it may still happen)
  └ ToolDenied           not allowed, or not confirmed

Cancellation is how a turn ended, not an error.
"""

from __future__ import annotations

from typing import ClassVar


class EdgevoxError(Exception):
    """The root. `exit_code` is what a command ends with (docs/guide/commands.md)."""

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
