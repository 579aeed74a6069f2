"""`search_corpus` and `list_corpora`: the user's own documents, as tools."""

from __future__ import annotations

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
            name = None if corpus is None else _corpus_named(corpus, index)
            passages = index.search(query, corpus=name)
        except StateError as error:
            raise ToolError(error.message) from error
        found = tuple(Found(passage.file, passage.text) for passage in passages)
        return found or "Nothing in the documents fits."

    @tool(examples=["which documents can you search"])
    def list_corpora() -> dict[str, int] | str:
        """List the collections of the user's own documents, with how many each has."""
        try:
            return _corpora(index) or "There are no documents yet."
        except StateError as error:
            raise ToolError(error.message) from error

    def _corpora(index: DocumentIndex) -> dict[str, int]:
        return {name or folder.name: count for name, count in index.corpora().items()}

    def _corpus_named(wanted: str, index: DocumentIndex) -> str:
        corpora = index.corpora()
        for name in corpora:
            if (name or folder.name).casefold() == wanted.strip().casefold():
                return name
        names = ", ".join(name or folder.name for name in corpora) or "none"
        raise ToolError(f"there is no corpus called {wanted}; there are: {names}")

    return search_corpus, list_corpora
