"""Those who were sent away because too many waited: when they come back they go before others, in order."""

from __future__ import annotations

from dataclasses import dataclass

_MAX_CLAIMS = 256
_MAX_SERVED = 256
# Nobody comes back to the second.
_GRACE_S = 5.0


@dataclass(frozen=True, slots=True)
class Seeker:
    """Who wants a place, as far as a server can know: where it comes from, and what its request looks like.

    A program that had to wait may come back on another connection, with the same request. Others may ask the
    same: a request alone stands for who sent it only when that one is due.
    """

    connection: str
    request: str


@dataclass(slots=True)
class Claim:
    seeker: Seeker
    due_s: float
    """When it was told to come back."""


class Claims:
    """In the order in which they were sent away; each holds for a while after it is due."""

    def __init__(self) -> None:
        self._claims: list[Claim] = []
        self._served: dict[str, None] = {}
        """Connections whose last request was let in: their next one is new, whatever it looks like."""

    def __len__(self) -> int:
        return len(self._claims)

    def ahead_of(self, seeker: Seeker | None, now_s: float) -> int:
        """How many were sent away before it was; all, for whoever was not."""
        claim = self._of(seeker, now_s)
        return len(self._claims) if claim is None else self._claims.index(claim)

    def hold(self, seeker: Seeker, now_s: float, due_s: float) -> None:
        """Keep its claim; one that is there stays where it is in the order."""
        if (claim := self._of(seeker, now_s)) is not None:
            claim.seeker, claim.due_s = seeker, due_s
        elif len(self._claims) < _MAX_CLAIMS:
            self._claims.append(Claim(seeker, due_s))
        self._served.pop(seeker.connection, None)

    def use(self, seeker: Seeker, now_s: float) -> None:
        """It has a place now."""
        if (claim := self._of(seeker, now_s)) is not None:
            self._claims.remove(claim)
        self._served.pop(seeker.connection, None)
        self._served[seeker.connection] = None
        if len(self._served) > _MAX_SERVED:
            del self._served[next(iter(self._served))]

    def drop_expired(self, now_s: float) -> None:
        self._claims = [claim for claim in self._claims if claim.due_s + _GRACE_S > now_s]

    def _of(self, seeker: Seeker | None, now_s: float) -> Claim | None:
        if seeker is None:
            return None
        for claim in self._claims:
            if claim.seeker.connection == seeker.connection:
                return claim
        if seeker.connection in self._served:
            return None
        alike = (claim for claim in self._claims if claim.seeker.request == seeker.request)
        return next((claim for claim in alike if claim.due_s <= now_s), None)
