"""Those who were sent away because too many waited: whoever comes back goes before whoever comes first."""

from __future__ import annotations

_MAX_CLAIMS = 256


class Claims:
    """In the order in which they were sent away; each holds until a time."""

    def __init__(self) -> None:
        self._until_s: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._until_s)

    def __contains__(self, who: object) -> bool:
        return who in self._until_s

    def ahead_of(self, who: str) -> int:
        """How many were sent away before `who` was; all, for whoever was not."""
        names = list(self._until_s)
        return names.index(who) if who in self._until_s else len(names)

    def hold(self, who: str, until_s: float) -> None:
        """Keep the claim of `who` until then; it stays where it is in the order."""
        if who in self._until_s or len(self._until_s) < _MAX_CLAIMS:
            self._until_s[who] = until_s

    def use(self, who: str) -> None:
        self._until_s.pop(who, None)

    def drop_expired(self, now_s: float) -> None:
        for who in [who for who, until_s in self._until_s.items() if until_s <= now_s]:
            del self._until_s[who]
