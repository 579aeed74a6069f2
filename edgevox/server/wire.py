"""Reading the JSON body of a request, strictly: what is wrong with it is told by field."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import from_json
from starlette.requests import ClientDisconnect, Request

from edgevox.server.errors import ApiError, invalid
from edgevox.server.gone import ClientGone

BodyT = TypeVar("BodyT", bound="Wire")


class Wire(BaseModel):
    """A part of a request. Fields that are not known are passed over, as newer clients have more of them."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False, frozen=True)


async def read_body(request: Request, kind: type[BodyT]) -> BodyT:
    """Raises ApiError, and ClientGone."""
    content = await read_json(request)
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        raise _told(error) from None


async def read_json(request: Request) -> Any:  # noqa: ANN401 - JSON
    """The body, whatever it holds. Raises ApiError, and ClientGone."""
    if request.headers.get("content-type", "").partition(";")[0].strip().casefold() != "application/json":
        raise ApiError(415, "unsupported_media_type", "the body must be application/json")
    try:
        return from_json(await request.body(), allow_inf_nan=False)
    except ClientDisconnect:
        raise ClientGone from None
    except ValueError as error:
        raise ApiError(400, "invalid_json", f"the body is not JSON: {error}") from None


def _told(error: ValidationError) -> ApiError:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(step) for step in first["loc"])
    return invalid(f"{place or 'the body'}: {first['msg']}", place or None)
