"""The bodies of /v1/audio/…, as OpenAI's clients write them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias, get_args

from pydantic import Field
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from edgevox.server.audio.sound_writer import SoundFormat
from edgevox.server.errors import ApiError, invalid
from edgevox.server.gone import ClientGone
from edgevox.server.wire import Wire

TextFormat: TypeAlias = Literal["json", "text", "verbose_json"]
_MAX_FIELDS = 16
_MAX_FIELD_BYTES = 10_000


class SpeechBody(Wire):
    """What is to be spoken. There is one voice, whatever `voice` says."""

    model: str
    input: Annotated[str, Field(min_length=1, max_length=4096)]
    voice: str | dict[str, str] = "default"
    response_format: SoundFormat | None = None
    speed: Annotated[float, Field(ge=0.25, le=4)] = 1.0


@dataclass(frozen=True, slots=True)
class TranscriptionBody:
    """A sound file that is to be written down."""

    model: str
    content: bytes
    language: str | None
    response_format: TextFormat

    @classmethod
    async def read(cls, request: Request) -> TranscriptionBody:
        """Raises ApiError, and ClientGone."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip().casefold()
        if kind != "multipart/form-data":
            raise ApiError(415, "unsupported_media_type", "the body must be multipart/form-data")
        try:
            form = await request.form(max_files=1, max_fields=_MAX_FIELDS, max_part_size=_MAX_FIELD_BYTES)
        except ClientDisconnect:
            raise ClientGone from None
        except HTTPException as error:
            raise ApiError(400, "invalid_form", f"the form cannot be read: {error.detail}") from None
        try:
            file, model = form.get("file"), form.get("model")
            language, wanted = form.get("language"), form.get("response_format", "json")
            if not isinstance(file, UploadFile):
                raise invalid("there is no file in the form", "file")
            if not isinstance(model, str):
                raise invalid("there is no model in the form", "model")
            if isinstance(language, UploadFile) or (language and not _is_language(language)):
                raise invalid('a language is two or three letters, such as "de"', "language")
            for form_of_text in get_args(TextFormat):
                if wanted == form_of_text:
                    return cls(model, await file.read(), language or None, form_of_text)
        finally:
            await form.close()
        raise invalid(f"the format is one of {', '.join(get_args(TextFormat))}", "response_format")


def _is_language(text: str) -> bool:
    return text.isascii() and text.isalpha() and text.islower() and len(text) in (2, 3)
