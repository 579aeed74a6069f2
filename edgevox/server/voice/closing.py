"""Why a connection is closed: the codes of the contract, and words for people."""

from __future__ import annotations

from enum import IntEnum

# A close frame has room for 125 bytes: the code, and this many of the reason.
_REASON_BYTES = 123


class CloseCode(IntEnum):
    """Our own; those below 4000 are the protocol's, and not sent from here."""

    NOT_UNDERSTOOD = 4400
    UNKNOWN_TOKEN = 4401
    LACKS_SCOPE = 4403
    OTHER_VERSION = 4406
    NO_HELLO = 4408
    REPLACED = 4409
    STALLED = 4410
    FLOODED = 4429
    FAULT = 4500
    NO_PLACE = 4503


class CutOff(Exception):
    """The connection is to be closed, with this code and these words."""

    def __init__(self, code: CloseCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    @property
    def reason(self) -> str:
        """The words as far as a close frame has room for them."""
        return self.message.encode()[:_REASON_BYTES].decode(errors="ignore")


def not_understood(message: str) -> CutOff:
    return CutOff(CloseCode.NOT_UNDERSTOOD, message)
