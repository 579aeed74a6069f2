"""The arguments of a call that is still being written: each one as soon as it is complete."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from edgevox.llm.tool_parsers.json_repair import JsonValue, Unreadable

# A call with more arguments is shown when it is complete: to look at them all each time would take too long.
MAX_PREVIEWED = 64


class ArgumentsPreview:
    """Cuts the brackets that hold the arguments at their commas, and reads each part once.

    `read` turns one part into its argument; `begins` looks at what stands before the brackets and says
    whether they are the arguments at all. Where a part cannot be read the preview stops: the whole call,
    which may be repaired, is what counts.
    """

    def __init__(
        self, read: Callable[[str], Mapping[str, JsonValue]], begins: Callable[[str], bool] | None = None
    ) -> None:
        self.arguments: dict[str, JsonValue] = {}
        self._begins = begins
        self._read = read
        self._parts: list[str] = []
        self._inside = False
        self._over = False

    def follow(self, text: str, start: int, end: int, marks: Sequence[int]) -> None:
        """Go on with `text[start:end]`, in which brackets open and close and commas stand at `marks`."""
        if self._over:
            return
        for mark in marks:
            self._parts.append(text[start:mark])
            start = mark + 1
            part, self._parts = "".join(self._parts), []
            if text[mark] in "{([":
                self._inside = self._begins is None or self._begins(part)
            elif self._inside:
                self._take(part)
                self._over = self._over or text[mark] != ","
        self._parts.append(text[start:end])

    def _take(self, part: str) -> None:
        if not part.strip():
            return
        try:
            found = self._read(part)
        except Unreadable:
            found = {}
        if not found or len(self.arguments) > MAX_PREVIEWED or any(key in self.arguments for key in found):
            self._over = True
        else:
            self.arguments.update(found)
