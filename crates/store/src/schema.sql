-- The columns that lists filter and sort by: one row per output. Everything here is derived from
-- the files of the outputs. Do not edit within a statement, not even its comments: the index
-- stores the text of each statement, and a different text makes every existing index be rebuilt.
CREATE TABLE output (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    -- Nothing where the metadata is damaged, as with `success`: no filter lets it pass.
    tool_name TEXT,
    conversation_id TEXT,
    success INTEGER,
    created_at INTEGER NOT NULL,
    size INTEGER NOT NULL,
    disk INTEGER NOT NULL,
    -- Whether it is never evicted: pinned, or damaged, when it may be pinned.
    kept INTEGER NOT NULL,
    stamp TEXT NOT NULL
) STRICT;

-- The other columns, as JSON, and a checksum over both tables. Read for the rows of a page only.
CREATE TABLE shown (
    output INTEGER PRIMARY KEY,
    row TEXT NOT NULL,
    sum INTEGER NOT NULL
) STRICT;

CREATE TABLE total (count INTEGER NOT NULL, disk INTEGER NOT NULL) STRICT;
INSERT INTO total VALUES (0, 0);

CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

CREATE TRIGGER added AFTER INSERT ON output BEGIN
    UPDATE total SET count = count + 1, disk = disk + NEW.disk;
END;

CREATE TRIGGER removed AFTER DELETE ON output BEGIN
    UPDATE total SET count = count - 1, disk = disk - OLD.disk;
    DELETE FROM shown WHERE output = OLD.number;
END;

-- One index per order, each with all columns that filters use, so that a page needs only one index.
CREATE INDEX by_created_desc ON output (created_at DESC, id, tool_name, conversation_id, success);
CREATE INDEX by_created_asc ON output (created_at, id, tool_name, conversation_id, success);
CREATE INDEX by_size_desc ON output (size DESC, created_at DESC, id, tool_name, conversation_id, success);
CREATE INDEX by_size_asc ON output (size, created_at DESC, id, tool_name, conversation_id, success);
CREATE INDEX by_tool_desc ON output (tool_name DESC, created_at DESC, id, conversation_id, success);
CREATE INDEX by_tool_asc ON output (tool_name, created_at DESC, id, conversation_id, success);
-- A conversation has few outputs, so sorting them is cheap.
CREATE INDEX by_conversation ON output (conversation_id, created_at DESC, id, tool_name, success);

-- The arguments of calls that returned a cursor, by the hash of the cursor, newest last.
CREATE TABLE cursor (number INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, arguments TEXT NOT NULL) STRICT;
