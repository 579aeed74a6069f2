"""`search_corpus` and `list_corpora`: the user's own documents, as tools."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from edgevox.errors import StateError, ToolError
from edgevox.tools.document_index import DocumentIndex
from edgevox.tools.tool import Tool, tool

NAMES = ("search_corpus", "list_corpora")


@dataclass(frozen=True, slots=True)
class Found:
    """What a search gives the model to read."""

    file: str
    text: str


def corpus_tools(folder: Path, database: Path) -> tuple[Tool, ...]:
    """The tools over the documents in `folder`, each of whose sub-folders is a corpus."""
    index = DocumentIndex(folder, database)

    @tool(
        examples=[
            "what does the dishwasher manual say about error seven",
            "look in my recipes for something with leeks",
        ]
    )
    def search_corpus(
        query: Annotated[str, Field(min_length=1, max_length=300)], corpus: str | None = None
    ) -> tuple[Found, ...] | str:
        """Search the user's own documents.

        Args:
            query: the words to look for
            corpus: search only this collection of documents
        """
        try:
            name = None if corpus is None else _matching(corpus, index.corpora(), folder.name)
            passages = index.search(query, corpus=name)
        except StateError as error:
            raise ToolError(error.message) from error
        return tuple(Found(passage.file, passage.text) for passage in passages) or "Nothing fits."

    @tool(examples=["which documents can you search"])
    def list_corpora() -> dict[str, int] | str:
        """List the collections of the user's own documents, with how many each has."""
        try:
            corpora = index.corpora()
        except StateError as error:
            raise ToolError(error.message) from error
        return {
            name or folder.name: count for name, count in corpora.items()
        } or "There are no documents yet."

    return search_corpus, list_corpora


def _matching(wanted: str, corpora: Iterable[str], whole: str) -> str:
    """The corpus that is called so; loose files go by the name of the whole folder. Raises ToolError."""
    names = {(corpus or whole).casefold(): corpus for corpus in corpora}
    if wanted.strip().casefold() not in names:
        there = ", ".join(corpus or whole for corpus in names.values()) or "none"
        raise ToolError(f"there is no corpus called {wanted}; there are: {there}")
    return names[wanted.strip().casefold()]
