"""Who may do what: by token, and on this machine also without one where nothing can happen.

Whatever lets the assistant act needs a token, wherever the request comes from: any page and any program
on the machine can reach loopback.
"""

from __future__ import annotations

import ipaddress

from starlette.requests import HTTPConnection

from edgevox.server.claims import Seeker
from edgevox.server.errors import ApiError
from edgevox.server.hosts import host_name, is_loopback_name
from edgevox.server.tokens import Tokens
from edgevox.tools.scopes import Caller

ANYBODY = Caller("anybody on this machine")
"""Who asks without a token; no tool is theirs to call."""

_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")


class Access:
    """The rules of one server."""

    def __init__(self, tokens: Tokens, *, always_token: bool) -> None:
        self._tokens = tokens
        self._always_token = always_token

    def talker(self, connection: HTTPConnection, scope: str) -> Caller:
        """Who asks for something that changes nothing here. Raises ApiError."""
        if self._always_token or not is_local(connection):
            return self.actor(connection, scope)
        return self._known(connection) or ANYBODY

    def actor(self, connection: HTTPConnection, scope: str, *, instead: str = "") -> Caller:
        """Who asks for something that can make the assistant act. Raises ApiError.

        `instead` says what can be done without a token.
        """
        return self._allowed(_token(connection), scope, instead)

    def holder(self, connection: HTTPConnection, token: str, scope: str) -> Caller:
        """The same for a browser's socket, which has no header for a token: it says it. Raises ApiError."""
        return self._allowed(token or _token(connection), scope)

    def _allowed(self, token: str, scope: str, instead: str = "") -> Caller:
        caller = self._tokens.caller(token) if token else None
        if caller is None:
            raise ApiError(
                401,
                "invalid_api_key" if token else "missing_api_key",
                f"this needs a token that is known here{instead}",
                headers={"WWW-Authenticate": "Bearer"},
            )
        if not caller.may(scope):
            raise ApiError(403, "token_scope_insufficient", f"the token of {caller.name} lacks {scope}")
        return caller

    def _known(self, connection: HTTPConnection) -> Caller | None:
        token = _token(connection)
        return self._tokens.caller(token) if token else None


def is_local(connection: HTTPConnection) -> bool:
    """True for a program on this machine, and not for what a proxy on it passes on."""
    client = connection.client
    try:
        is_near = client is not None and ipaddress.ip_address(client.host).is_loopback
    except ValueError:
        return False
    headers = connection.headers
    is_direct = not any(name in headers for name in _FORWARDED)
    return is_near and is_direct and is_loopback_name(host_name(headers.get("host", "")))


def seeker_of(connection: HTTPConnection, caller: Caller) -> Seeker | None:
    """Who comes back when it was sent away; its connection names it only as long as that lasts."""
    client, headers = connection.client, connection.headers
    if client is None:
        return None
    length, agent = headers.get("content-length", ""), headers.get("user-agent", "")
    request = "\n".join((caller.name, client.host, connection.url.path, length, agent))
    return Seeker(f"{client.host} {client.port}", request)


def _token(connection: HTTPConnection) -> str:
    """What the request brings: OpenAI's libraries and Anthropic's have different places for it."""
    scheme, _, token = connection.headers.get("authorization", "").partition(" ")
    if scheme.casefold() == "bearer" and token.strip():
        return token.strip()
    return connection.headers.get("x-api-key", "").strip()
