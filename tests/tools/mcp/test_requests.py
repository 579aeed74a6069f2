"""Requests for tools of servers are read without a model, by their words and by the schemas."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from edgevox.tools.mcp.filling import Lookup, Request
from edgevox.tools.mcp.requests import ServerTools
from edgevox.tools.mcp.select_statements import Column, select_statement
from edgevox.tools.mcp.tools import Definition, as_tool

SUITES = Path(__file__).parents[2] / "eval"
TEXT = {"type": "string"}


def schema(required: Mapping[str, Any], **optional: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {**required, **optional}, "required": list(required)}


TOOLS = {
    "disk": (
        ("list_folder", "List what is in a folder.", schema({"path": TEXT})),
        ("read_note", "Read the text of a file.", schema({"path": TEXT}, lines={"type": "integer"})),
        ("write_note", "Write text to a file.", schema({"path": TEXT, "content": TEXT})),
        ("read_several_notes", "Read several files.", schema({"paths": {"type": "array", "items": TEXT}})),
        ("edit_note", "Edit the text of a file.", schema({"path": TEXT, "edits": {
            "type": "array",
            "items": schema({"oldText": TEXT, "newText": TEXT}),
        }})),
        ("move_note", "Move a file to another place.", schema({"source": TEXT, "destination": TEXT})),
    ),
    "shelf": (
        ("make_folder", "Make a new folder or ensure that it exists.", schema({"path": TEXT})),
        ("find_files", "Find files that match a pattern.", schema({"path": TEXT, "pattern": TEXT})),
        ("list_allowed_folders", "Lists the folders that are allowed.", schema({})),
    ),
    "source": (
        ("diff_staged", "Shows changes that are staged for commit.", schema({"repo_path": TEXT})),
        ("diff_unstaged", "Shows changes that are not yet staged.", schema({"repo_path": TEXT})),
        ("diff", "Shows differences between branches.", schema({"repo_path": TEXT, "target": TEXT})),
        ("checkout", "Switches branches.", schema({"repo_path": TEXT, "branch_name": TEXT})),
        ("commit", "Records changes.", schema({"repo_path": TEXT, "message": TEXT})),
        ("add", "Adds files to what is staged.", schema({
            "repo_path": TEXT, "files": {"type": "array", "items": TEXT},
        })),
    ),
    "mind": (("carefulthinking", "Solve problems by thinking in steps.", schema({"thought": TEXT})),),
    "web": (("fetch", "Fetch a page of the web.", schema({"url": {"type": "string", "format": "uri"}})),),
    "sums": (("calculate", "Calculate an expression.", schema({"expression": TEXT})),),
    "ledger": (
        ("list_accounts", "List all accounts of the ledger.", schema({})),
        ("read_query", "Run a SELECT query (SQL) on the ledger.", schema({"query": TEXT})),
        ("write_query", "Run an INSERT query (SQL) on the ledger.", schema({"query": TEXT})),
        (
            "export_ledger",
            "Export the ledger.",
            schema({"format": {"type": "string", "enum": ["csv", "pdf"]}}, pages={"type": "integer"}),
        ),
        ("create_accounts", "Create accounts in the ledger.", schema({"accounts": {
            "type": "array",
            "items": schema({"name": TEXT, "accountType": TEXT}),
        }})),
    ),
    "garden": (
        ("plant_things", "Put new things into the garden book.", schema({"things": {
            "type": "array",
            "items": schema({"thingName": TEXT, "thingType": TEXT, "remarks": {"type": "array", "items": TEXT}}),
        }})),
        ("add_remarks", "Add remarks to things of the garden book.", schema({"additions": {
            "type": "array",
            "items": schema({"thingName": TEXT, "remarks": {"type": "array", "items": TEXT}}),
        }})),
        ("delete_remarks", "Delete remarks of the garden book.", schema({"deletions": {
            "type": "array",
            "items": schema({"thingName": TEXT, "remarks": {"type": "array", "items": TEXT}}),
        }})),
        ("delete_things", "Delete things of the garden book.", schema({"thingNames": {
            "type": "array", "items": TEXT,
        }})),
        ("tie_things", "Create ties in the garden book.", schema({"ties": {
            "type": "array", "items": schema({"source": TEXT, "target": TEXT, "tieType": TEXT}),
        }})),
        ("seek_things", "Seek things in the garden book.", schema({"query": TEXT})),
    ),
    "clock": (
        ("convert_time", "Convert a time between time zones.", schema({
            "source_timezone": {"type": "string", "description": "IANA time zone"},
            "time": TEXT,
            "target_timezone": {"type": "string", "description": "IANA time zone"},
        })),
        ("branches", "List branches.", schema({
            "path": TEXT, "kind": {"type": "string", "description": "'local', 'remote' or 'all' branches"},
        })),
    ),
}  # fmt: skip


async def _call(_name: str, _arguments: Mapping[str, Any]) -> object:
    return "done"


@pytest.fixture(scope="module")
def servers() -> ServerTools:
    return ServerTools(
        [
            (
                as_tool(
                    Definition(name=name, description=text, input_schema=slots),
                    f"{server}_{name}",
                    _call,
                    server_id=server,
                ),
                server,
            )
            for server, tools in TOOLS.items()
            for name, text, slots in tools
        ]
    )


@pytest.mark.parametrize(
    ("said", "tool", "arguments"),
    [
        ("what is in the folder /home/me/Notes", "disk_list_folder", {"path": "/home/me/Notes"}),
        ("read ~/Notes/Plan_B.txt to me", "disk_read_note", {"path": "~/Notes/Plan_B.txt"}),
        ("write buy stamps to the file /tmp/a.txt", "disk_write_note", {"path": "/tmp/a.txt", "content": "buy stamps"}),
        ("move /tmp/a.txt to /tmp/b.txt", "disk_move_note", {"source": "/tmp/a.txt", "destination": "/tmp/b.txt"}),
        ("fetch https://example.org/a?b=C please", "web_fetch", {"url": "https://example.org/a?b=C"}),
        ("calculate 12 * (3 + 4)", "sums_calculate", {"expression": "12 * (3 + 4)"}),
        ("which accounts are in the ledger", "ledger_list_accounts", {}),
        ("run SELECT name FROM accounts", "ledger_read_query", {"query": "SELECT name FROM accounts"}),
        ("export the ledger as PDF, 3 pages", "ledger_export_ledger", {"format": "pdf", "pages": 3}),
        (
            "create an account called Holiday of type savings in the ledger",
            "ledger_create_accounts",
            {"accounts": [{"name": "Holiday", "accountType": "savings"}]},
        ),
        (
            "convert 15:00 from London to Tokyo time",
            "clock_convert_time",
            {"source_timezone": "Europe/London", "time": "15:00", "target_timezone": "Asia/Tokyo"},
        ),
        ("list the remote branches of /src/app", "clock_branches", {"path": "/src/app", "kind": "remote"}),
        # another word for the tool's, another form of it, and what two paths or two places ask for
        ("what do they write at https://example.org/a", "web_fetch", {"url": "https://example.org/a"}),
        ("is there anything in /home/me/Notes", "disk_list_folder", {"path": "/home/me/Notes"}),
        ("read both /a.txt and /b.txt", "disk_read_several_notes", {"paths": ["/a.txt", "/b.txt"]}),
        (
            "replace rye bread with oat bread in /a.txt",
            "disk_edit_note",
            {"path": "/a.txt", "edits": [{"oldText": "rye bread", "newText": "oat bread"}]},
        ),
        (
            "when it is 20:00 in Paris how late is it in Bangkok",
            "clock_convert_time",
            {"source_timezone": "Europe/Paris", "time": "20:00", "target_timezone": "Asia/Bangkok"},
        ),
        ("INSERT INTO accounts VALUES (1)", "ledger_write_query", {"query": "INSERT INTO accounts VALUES (1)"}),
        # another verb, no verb at all, a file in a folder, a city without a zone of its own, half of the day
        (
            "jot down feed the cat in /tmp/cat.txt",
            "disk_write_note",
            {"path": "/tmp/cat.txt", "content": "feed the cat"},
        ),
        ("the top line of /tmp/cat.txt", "disk_read_note", {"path": "/tmp/cat.txt"}),
        (
            "read the files a.txt and b.txt in my_data/old",
            "disk_read_several_notes",
            {"paths": ["my_data/old/a.txt", "my_data/old/b.txt"]},
        ),
        (
            "edit /a.txt by replacing the word 'rye' with 'oat'",
            "disk_edit_note",
            {"path": "/a.txt", "edits": [{"oldText": "rye", "newText": "oat"}]},
        ),
        (
            "at 5:20 pm in Amsterdam what time is it in Seattle",
            "clock_convert_time",
            {"source_timezone": "Europe/Amsterdam", "time": "17:20", "target_timezone": "America/Los_Angeles"},
        ),
        # what is called otherwise, what is composed, and values that are no words of the tool
        ("I want /a.txt to be called /b.txt", "disk_move_note", {"source": "/a.txt", "destination": "/b.txt"}),
        (
            "in /a.txt rye bread should become oat bread",
            "disk_edit_note",
            {"path": "/a.txt", "edits": [{"oldText": "rye bread", "newText": "oat bread"}]},
        ),
        (
            "instead of rye put oat in /a.txt",
            "disk_edit_note",
            {"path": "/a.txt", "edits": [{"oldText": "rye", "newText": "oat"}]},
        ),
        ("have a quick look at /a.txt", "disk_read_note", {"path": "/a.txt"}),
        ("put a new folder called bees inside /home/me/Notes", "shelf_make_folder", {"path": "/home/me/Notes/bees"}),
        (
            "look for anything about pancakes under /home/me/Notes",
            "shelf_find_files",
            {"path": "/home/me/Notes", "pattern": "pancakes"},
        ),
        ("which directories am I permitted to touch", "shelf_list_allowed_folders", {}),
        ("what is about to be committed in /src/app", "source_diff_staged", {"repo_path": "/src/app"}),
        ("how does draft differ from here in /src/app", "source_diff", {"repo_path": "/src/app", "target": "draft"}),
        ("switch /src/app over to draft", "source_checkout", {"repo_path": "/src/app", "branch_name": "draft"}),
        ("add plan.txt to the next commit in /src/app", "source_add", {"repo_path": "/src/app", "files": ["plan.txt"]}),
        ("I need a folder /home/me/Notes/tax", "shelf_make_folder", {"path": "/home/me/Notes/tax"}),
        (
            "which files under /home/me/Notes have pancakes in their name",
            "shelf_find_files",
            {"path": "/home/me/Notes", "pattern": "pancakes"},
        ),
        ("which lines in /src/app aren't staged", "source_diff_unstaged", {"repo_path": "/src/app"}),
        ("what directories can you get into", "shelf_list_allowed_folders", {}),
        (
            "think in steps about how to seat four guests",
            "mind_carefulthinking",
            {"thought": "how to seat four guests"},
        ),
    ],
)
def test_a_request_names_its_tool_and_holds_the_arguments(
    servers: ServerTools, said: str, tool: str, arguments: Mapping[str, Any]
) -> None:
    request = servers.meant(said)

    assert request is not None
    assert (request.tool, request.arguments, request.missing) == (tool, arguments, ())


GARDEN_BOOK = json.dumps(
    {
        "things": [
            {"thingName": "Rosa", "thingType": "rose", "remarks": ["likes sun", "hates wind"]},
            {"thingName": "Gus", "thingType": "goat", "remarks": []},
        ],
        "ties": [{"source": "Gus", "target": "Rosa", "tieType": "eats"}],
    }
)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Remember that Rosa needs water", ("add_remarks", {"additions": [
            {"thingName": "Rosa", "remarks": ["needs water"]},
        ]})),
        ("please make a note that gus's leg is sore", ("add_remarks", {"additions": [
            {"thingName": "Gus", "remarks": ["leg is sore"]},
        ]})),
        ("Ivy climbs the wall, remember that", ("plant_things", {"things": [
            {"thingName": "Ivy", "thingType": "person", "remarks": ["climbs the wall"]},
        ]})),
        ("keep in mind that Ivy is a shrub", ("plant_things", {"things": [
            {"thingName": "Ivy", "thingType": "shrub", "remarks": ["is a shrub"]},
        ]})),
        ("Rosa is the neighbour of Gus, save that connection", ("tie_things", {"ties": [
            {"source": "Rosa", "target": "Gus", "tieType": "neighbour of"},
        ]})),
        ("forget that Rosa likes the sun", ("delete_remarks", {"deletions": [
            {"thingName": "Rosa", "remarks": ["likes sun"]},
        ]})),
        ("forget everything you know about gus", ("delete_things", {"thingNames": ["Gus"]})),
        ("what do you know about Rosa", "Rosa (rose): likes sun, hates wind; Gus eats Rosa."),
        ("tell me what you know about Tulip", "I know nothing about Tulip."),
        ("Rosa doesn't like the sun any more, so forget that", ("delete_remarks", {"deletions": [
            {"thingName": "Rosa", "remarks": ["likes sun"]},
        ]})),
        ("add my friend Bruno to your memory, he repairs bicycles", ("plant_things", {"things": [
            {"thingName": "Bruno", "thingType": "friend", "remarks": ["repairs bicycles"]},
        ]})),
        (
            "who in your memory hates wind",
            "Rosa (rose): likes sun, hates wind; Gus (goat): nothing more; Gus eats Rosa.",
        ),
        ("forget that Tulip is red", "I did not know that about Tulip."),
    ],
)  # fmt: skip
def test_what_a_server_knows_decides_how_a_statement_is_kept(
    servers: ServerTools, said: str, expected: tuple[str, Mapping[str, Any]] | str
) -> None:
    found: Request | Lookup | str | None = servers.looked_up(said)
    while isinstance(found, Lookup):
        assert [request.tool for request in found.requests] == ["garden_seek_things"]
        (name,) = (str(request.arguments["query"]) for request in found.requests)
        found = found.then([GARDEN_BOOK if name.casefold() in GARDEN_BOOK.casefold() else "{}"])

    answer = (found.tool.removeprefix("garden_"), found.arguments) if isinstance(found, Request) else found
    assert answer == expected


@pytest.mark.parametrize(
    "said",
    ["remember me", "forget it", "remember to water Rosa", "don't forget to call", "what do you have on the list"],
)
def test_what_states_nothing_is_not_for_a_server_that_keeps_facts(servers: ServerTools, said: str) -> None:
    assert servers.looked_up(said) is None


def test_what_a_tool_needs_and_the_request_does_not_hold_is_named(servers: ServerTools) -> None:
    request = servers.meant("move the file /tmp/a.txt")

    assert request is not None
    assert (request.tool, request.missing) == ("disk_move_note", ("destination",))


@pytest.mark.parametrize("suite", ["messy", "no_call", "overheard"])
def test_nothing_that_is_said_in_a_home_is_a_request_for_a_server(servers: ServerTools, suite: str) -> None:
    rows = map(json.loads, (SUITES / f"{suite}.jsonl").read_text(encoding="utf-8").splitlines())
    said = [row["utterance"] for row in rows if isinstance(row.get("utterance"), str)]

    assert said
    assert [sentence for sentence in said if servers.meant(sentence) or servers.looked_up(sentence)] == []


TABLES = {
    "artists": (Column("id", True), Column("name", False), Column("country", False), Column("age", True)),
    "paintings": (Column("title", False), Column("artist", False), Column("price", True), Column("year", True)),
}


@pytest.mark.parametrize(
    ("said", "sql"),
    [
        ("how many paintings are there", "SELECT COUNT(*) AS number_of_paintings FROM paintings"),
        (
            "what's the most expensive painting",
            "SELECT title, price FROM paintings WHERE price IS NOT NULL ORDER BY price DESC LIMIT 1",
        ),
        ("who is the youngest artist", "SELECT name, age FROM artists WHERE age IS NOT NULL ORDER BY age ASC LIMIT 1"),
        ("average price of the paintings", "SELECT AVG(price) AS average_price FROM paintings"),
        ("what is the total price of all paintings", "SELECT SUM(price) AS total_price FROM paintings"),
        (
            "list the paintings by Ida O'Neill that cost more than 1,200",
            "SELECT title, price FROM paintings WHERE price > 1200 AND LOWER(artist) LIKE '%ida o''neill%'",
        ),
        ("which artists are older than 40", "SELECT name FROM artists WHERE age > 40"),
        ("paintings from before 1900", "SELECT title FROM paintings WHERE year < 1900"),
        (
            "how many paintings per artist",
            "SELECT artist, COUNT(*) AS number_of_paintings FROM paintings GROUP BY artist",
        ),
        (
            "which artist has the most paintings",
            "SELECT artist, COUNT(*) AS number_of_paintings FROM paintings GROUP BY artist ORDER BY 2 DESC LIMIT 1",
        ),
        (
            "how many different countries are there",
            "SELECT COUNT(DISTINCT country) AS number_of_countries FROM artists",
        ),
        # what tables do not say is not made up
        ("which painting has the most visitors", ""),
        ("which artist is the most famous", ""),
        ("how many people live in France", ""),
        ("paint the fence", ""),
        ("which painting should I buy", ""),
    ],
)
def test_a_question_whose_words_are_all_of_a_table_is_a_query(said: str, sql: str) -> None:
    assert select_statement(said, TABLES) == sql


def test_the_tables_are_asked_for_once_before_a_question_about_them() -> None:
    tools = (
        ("list_tables", "List all tables.", schema({})),
        ("describe_table", "The columns of a table.", schema({"table_name": TEXT})),
        ("read_query", "Run a SELECT query (SQL).", schema({"query": TEXT})),
    )
    shop = ServerTools(
        [
            (as_tool(Definition(name=name, description=text, input_schema=slots), name, _call, server_id="shop"), "")
            for name, text, slots in tools
        ]
    )

    listing = shop.looked_up("how many goats are there")
    assert isinstance(listing, Lookup)
    assert [request.tool for request in listing.requests] == ["list_tables"]
    describing = listing.then([json.dumps("[('name': 'goats'}, ('name': 'barns'}]")])
    assert isinstance(describing, Lookup)
    assert describing.requests == (Request("describe_table", {"table_name": "goats"}),)
    asking = describing.then([json.dumps("[{'name': 'id', 'type': 'INTEGER'}, {'name': 'name', 'type': 'TEXT'}]")])
    assert asking == Request("read_query", {"query": "SELECT COUNT(*) AS number_of_goats FROM goats"})
    assert shop.looked_up("how many goats are there") == asking
    assert shop.looked_up("how many sheep are there") is None
    assert listing.then([json.dumps("[]")]) == "I do not know that."
    shop.forget_tables()
    assert isinstance(shop.looked_up("how many goats are there"), Lookup)
