-- SPDX-License-Identifier: MIT
--
-- The tables of a store on PostgreSQL, schema number 4. @schema@ stands for the tenant's schema.
-- Every primary key begins with the session, so that the tables partition and shard by it.
-- A number n is unsigned: it is stored with its first bit inverted, so that its order stays.

CREATE SCHEMA "@schema@";
SET LOCAL search_path = "@schema@";

CREATE TABLE store (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  schema integer NOT NULL, -- the oldest number whose builds can use these tables
  created timestamptz NOT NULL DEFAULT clock_timestamp(),
  revision integer,        -- the number of these tables; NULL: the same as `schema`
  -- An administrator may set these; NULL: no limit.
  history_days integer NOT NULL DEFAULT 30 CHECK (history_days > 0),
  inbox_days integer NOT NULL DEFAULT 30 CHECK (inbox_days > 0), -- of a push that no session takes
  pending_per_session bigint CHECK (pending_per_session > 0),    -- a limit beside the limit in a host's configuration
  bytes bigint CHECK (bytes > 0),                                -- of all tables: above this size pushes are refused
  is_full boolean NOT NULL DEFAULT false,                        -- the tables are above it; keep_days sets this
  identity uuid NOT NULL DEFAULT gen_random_uuid()               -- identifies these tables: life.c
);

-- Each session has one row, which every transaction that writes to the session locks. Row 0 is the
-- store's own.
CREATE TABLE session (
  session bigint PRIMARY KEY,
  name text UNIQUE,
  version bigint NOT NULL DEFAULT 0,  -- grows with each write
  token bigint,                       -- of the last write
  waiting bigint NOT NULL DEFAULT 0,  -- notifications that have not ended, without those in the inbox
  closed_ms bigint NOT NULL DEFAULT 0, -- when it was closed, if nothing waited in it; 0: it was not
  closed_version bigint NOT NULL DEFAULT 0, -- the version to which closed_ms belongs: clients of schema 1 do not write closed_ms
  owner bytea,
  rung bigint NOT NULL DEFAULT 0,     -- how often its owner had to act, not counting the pushes in the inbox
  tools jsonb,                        -- what the tools have declared: [["tool", "kind", ...], ...]
  floors bytea NOT NULL DEFAULT ''    -- which rows are history
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200);

CREATE INDEX session_owner ON session (owner);
CREATE INDEX session_closed ON session (closed_ms) WHERE closed_ms > 0;

-- The rows that transactions of a session read.
CREATE TABLE live (
  session bigint,
  kind smallint,
  n bigint,
  value bytea NOT NULL,
  PRIMARY KEY (session, kind, n)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
ALTER TABLE live ALTER value SET STORAGE EXTERNAL;

-- The rows that have ended, by the day on which they ended; days are dropped whole. There is no default partition: with one, a
-- client that adds a day would wait for all clients that read the history.
CREATE TABLE history (
  session bigint,
  kind smallint,
  n bigint,
  day date NOT NULL DEFAULT current_date,
  value bytea NOT NULL,
  PRIMARY KEY (session, kind, n, day)
) PARTITION BY RANGE (day);

-- Pushes that no transaction of the session has seen yet. Inserting a push takes no lock of the session.
CREATE TABLE inbox (
  name text,
  n bigint GENERATED ALWAYS AS IDENTITY,
  body bytea NOT NULL,
  rings boolean NOT NULL DEFAULT false,
  pushed timestamptz NOT NULL DEFAULT clock_timestamp(),
  counted bigint NOT NULL DEFAULT 0,    -- how many waited when the row with number counted_at was the newest
  counted_at bigint NOT NULL DEFAULT 0, -- 0: this is the first. See push_record
  PRIMARY KEY (name, n)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- The ids of the pushes that a session has seen.
CREATE TABLE seen (
  name text,
  source text,
  id text,
  at_ms bigint NOT NULL,
  until timestamptz NOT NULL,
  PRIMARY KEY (name, source, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
CREATE INDEX seen_until ON seen (until);

CREATE TABLE rate (
  name text,
  source text,
  since_ms bigint NOT NULL,
  pushed bigint NOT NULL,
  PRIMARY KEY (name, source)
) WITH (fillfactor = 50);

-- Owners whose process sleeps until it is called.
CREATE TABLE waiter (
  owner bytea,
  process bytea,
  PRIMARY KEY (owner, process)
);

-- Pushes that have ended in the inbox, since nobody took them. See the view dead_letters.
CREATE TABLE dead_letter (
  name text,
  n bigint,
  pushed timestamptz NOT NULL,
  ended timestamptz NOT NULL DEFAULT clock_timestamp(),
  reason text NOT NULL,
  body bytea NOT NULL,
  PRIMARY KEY (name, n)
);

-- A session that does not exist yet has no row to lock. Instead, one of these rows is locked, by a hash of the name. (Any login of the database could
-- hold an advisory lock.)
CREATE TABLE name_lock (n integer PRIMARY KEY);
INSERT INTO name_lock SELECT generate_series(0, 63);
