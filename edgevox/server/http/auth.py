"""Access rules: which requests need a token, and with which scope.

Requests that can make the assistant act need a token even from loopback: any page and any program on the
machine can reach it.
"""

from __future__ import annotations

from starlette.requests import HTTPConnection

from edgevox.server.http.errors import ApiError
from edgevox.server.http.middleware import host_name, is_loopback_name
from edgevox.server.http.tokens import Tokens
from edgevox.server.scheduling import ClientKey
from edgevox.tools.policy import Caller

ANONYMOUS = Caller("local client")
"""The caller of requests without a token, which cannot call tools."""

NO_KEYS = frozenset(
    {"", "any", "dummy", "empty", "lm-studio", "no-key", "none", "not-needed", "ollama", "sk-no-key-required", "unused"}
)
"""What programs send for a key that must not be empty, where none is needed; in lower case."""

_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")


class Access:
    """Access rules of one server."""

    def __init__(self, tokens: Tokens, *, always_token: bool) -> None:
        self._tokens = tokens
        self._always_token = always_token

    def allow_local(self, connection: HTTPConnection, scope: str) -> Caller:
        """Authorize a request without side effects; local clients need no token, but a given one must be known.

        Raises ApiError.
        """
        if self._always_token or not is_local(connection):
            return self.require_token(connection, scope)
        token = _token(connection)
        if token.casefold() in NO_KEYS:
            return ANONYMOUS
        return self._known(token)

    def require_token(self, connection: HTTPConnection, scope: str, *, token: str = "", instead: str = "") -> Caller:
        """Authorize a request that can make the assistant act. Raises ApiError.

        Browsers cannot set the headers of a WebSocket: its token may come in a frame. `instead` is added to the
        error: what is possible without a token.
        """
        caller = self._known(token or _token(connection), instead)
        if not caller.may(scope):
            raise ApiError(403, "token_scope_insufficient", f"the token of {caller.name} lacks the scope {scope}")
        return caller

    def current(self, caller: Caller) -> Caller | None:
        """Return the caller with the scopes that its token has now; None if it was withdrawn."""
        return self._tokens.current(caller)

    def _known(self, token: str, instead: str = "") -> Caller:
        caller = self._tokens.caller(token)
        if caller is None:
            raise ApiError(
                401,
                "invalid_api_key" if token else "missing_api_key",
                f"{'this token is unknown' if token else 'a token is required'}{instead}",
                headers={"WWW-Authenticate": "Bearer"},
            )
        return caller


def is_local(connection: HTTPConnection) -> bool:
    """Return whether the client is on this machine and not behind a proxy."""
    client, headers = connection.client, connection.headers
    if client is None or any(name in headers for name in _FORWARDED):
        return False
    return is_loopback_name(client.host) and is_loopback_name(host_name(headers.get("host", "")))


def client_key_of(connection: HTTPConnection, caller: Caller) -> ClientKey | None:
    """Return a key that recognises a client that retries, even on a new connection."""
    client, headers = connection.client, connection.headers
    if client is None:
        return None
    length, agent = headers.get("content-length", ""), headers.get("user-agent", "")
    request = "\n".join((caller.name, client.host, connection.url.path, length, agent))
    return ClientKey(f"{client.host} {client.port}", request, caller.name)


def _token(connection: HTTPConnection) -> str:
    """Return the token of the request; OpenAI's and Anthropic's clients use different headers."""
    scheme, _, token = connection.headers.get("authorization", "").partition(" ")
    if scheme.casefold() == "bearer" and token.strip():
        return token.strip()
    return connection.headers.get("x-api-key", "").strip()
