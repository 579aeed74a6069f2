-- The tables of memory.sqlite. A change needs a new version in memory_file.py.

CREATE TABLE turns (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    conversation TEXT NOT NULL,
    at_s REAL NOT NULL,
    source TEXT NOT NULL,
    finish_reason TEXT NOT NULL,
    messages TEXT NOT NULL
);
CREATE INDEX turns_of_conversation ON turns (conversation, number);

CREATE TABLE summaries (
    conversation TEXT PRIMARY KEY,
    text TEXT NOT NULL,
    first_turn INTEGER NOT NULL,
    last_turn INTEGER NOT NULL
);

CREATE TABLE forgettings (times INTEGER NOT NULL);
INSERT INTO forgettings VALUES (0);

-- A summary contains words of its turns, so deleting any of them deletes it.
CREATE TRIGGER turn_deleted AFTER DELETE ON turns BEGIN
    DELETE FROM summaries
    WHERE conversation = OLD.conversation AND OLD.number BETWEEN first_turn AND last_turn;
    UPDATE forgettings SET times = times + 1;
END;
