"""What goes wrong with a server, as errors that say what to do. No key stands in any of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from edgevox.errors import ConfigError, ContextOverflow, EdgevoxError, EngineFailed, ModelMissing
from edgevox.llm.remote.wire import NotReadable, Refused
from edgevox.settings.secret_file import Secret

_MAX_QUOTED_CHARS = 300
# How servers say that a conversation is too long: OpenAI and EdgeVox, llama.cpp, vLLM, Anthropic.
_TOO_LONG = ("context_length", "exceed_context", "context length", "context size", "prompt is too long")
_BUSY = (503, 529)


@dataclass(frozen=True, slots=True)
class RefusedRequest:
    """The answer of a server that is no answer: its status and what it says."""

    status: int
    kind: str
    said: str
    retry_after: str = ""

    @classmethod
    def read(cls, status: int, body: bytes, retry_after: str) -> RefusedRequest:
        """Servers have several forms for it; where it is none of them, the text stands for itself."""
        text = body.decode(errors="replace")
        try:
            content = json.loads(text)
        except ValueError:
            return cls(status, "", " ".join(text.split()), retry_after)
        match content:
            case {"error": {"message": str(said), **more}} | {"message": str(said), **more}:
                kind = f"{more.get('code', '')} {more.get('type', '')}"
                return cls(status, kind, said, retry_after)
            case {"error": str(said)} | {"detail": str(said)}:
                return cls(status, "", said, retry_after)
        return cls(status, "", text, retry_after)

    @property
    def is_about_choice(self) -> bool:
        """Whether the server cannot be told that a call must be made."""
        return self.status in (400, 422, 500, 501) and "tool_choice" in f"{self.kind} {self.said}"

    @property
    def is_too_long(self) -> bool:
        words = f"{self.kind} {self.said}".lower()
        return self.status in (400, 413, 500) and any(sign in words for sign in _TOO_LONG)


class Failures:
    """The errors of one server."""

    def __init__(self, url: str, key: Secret | None) -> None:
        self._url = url
        self._key = key

    def unreachable(self, error: Exception) -> EngineFailed:
        return EngineFailed(
            f"{self._url} does not answer: {self._quoted(str(error) or type(error).__name__)}",
            hint="is it running, and is llm.remote_url right?",
        )

    def broke_off(self) -> EngineFailed:
        return EngineFailed(f"{self._url} broke off in the middle of its answer", hint="see its log")

    def not_readable(self, error: NotReadable) -> EngineFailed:
        return EngineFailed(
            f"{self._url} gave no chat completion: {self._quoted(str(error))}",
            hint="llm.remote_url should end in /v1, and llm.remote_kind say what speaks there",
        )

    def refused_midway(self, error: Refused) -> EngineFailed:
        said = self._quoted(f"{error} {f'({error.kind})' if error.kind else ''}".strip())
        return EngineFailed(f"{self._url} gave up on its answer: {said}", hint="try again, or see its log")

    def refused(self, request: RefusedRequest, model: str, known: Sequence[str]) -> EdgevoxError:
        said = self._quoted(request.said)
        words = f"{request.kind} {request.said}".lower()
        match request.status:
            case 401 | 403:
                return self._wrong_key(said)
            case 404 if "model" in words:
                return ModelMissing(f"{self._url} has no model {model}: {said}", hint=_models_hint(known))
            case 404 | 405:
                return ConfigError(f"nobody chats at {self._url}: {said}", hint=_ADDRESS_HINT)
            case 429:
                later = f"in {request.retry_after} s" if request.retry_after.isdigit() else "later"
                return EngineFailed(
                    f"{self._url} has too much to do: {said}", hint=f"try again {later}; or raise its limits"
                )
            case status if status in _BUSY:
                return EngineFailed(
                    f"{self._url} answered {status}, it is not ready: {said}", hint="try again in a moment"
                )
            case status if 300 <= status < 400:
                return ConfigError(f"{self._url} sends elsewhere ({status})", hint=_ADDRESS_HINT)
        if request.is_too_long:
            return ContextOverflow(
                f"the conversation is too long for {model}: {said}", hint="ask for less at once"
            )
        return EngineFailed(
            f"{self._url} answered {request.status}: {said}",
            hint="see its log; tools need a server that knows them (llama.cpp's: --jinja)",
        )

    def _wrong_key(self, said: str) -> ConfigError:
        if self._key is None:
            return ConfigError(
                f"{self._url} wants a key: {said}",
                hint="name a file that holds it in llm.remote_key_file (chmod 600)",
            )
        return ConfigError(
            f"{self._url} does not accept the key: {said}",
            hint="llm.remote_key_file, or the variable of llm.remote_key_variable, must hold the right one",
        )

    def _quoted(self, text: str) -> str:
        """What somebody said, without the key: a server may repeat what it was sent."""
        if self._key is not None:
            text = text.replace(self._key.reveal(), "…")
        return " ".join(text.split())[:_MAX_QUOTED_CHARS]


_ADDRESS_HINT = "llm.remote_url should end in /v1, and llm.remote_kind say what speaks there"


def _models_hint(known: Sequence[str]) -> str:
    return f"set llm.remote_model to one of {', '.join(known[:12])}" if known else "set llm.remote_model"
