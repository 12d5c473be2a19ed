-- SPDX-License-Identifier: MIT
--
-- Frozen: the tables of schema number 2, as tidings 0.2.0 makes them. online.py upgrades them.
--
-- The tables of a store on PostgreSQL, schema number 2. "@schema@" stands for the tenant's schema.
-- Every primary key begins with the session, so that the tables partition and shard by it.
-- A number n is unsigned: it is kept with its first bit turned over, so that it sorts as it should.

CREATE SCHEMA @schema@;
SET LOCAL search_path = @schema@;

CREATE TABLE store (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  schema integer NOT NULL,
  created timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- One row a session: who writes to the session locks it. Row 0 is the store's own.
CREATE TABLE session (
  session bigint PRIMARY KEY,
  name text UNIQUE,
  version bigint NOT NULL DEFAULT 0,  -- grows with each write
  token bigint,                       -- of the last write
  waiting bigint NOT NULL DEFAULT 0,  -- notifications that have not ended, without those in the inbox
  closed_ms bigint NOT NULL DEFAULT 0, -- when it was closed, if nothing waited in it; 0: it was not
  closed_version bigint NOT NULL DEFAULT 0, -- of which version that is true: clients of schema 1 do not write closed_ms
  owner bytea,
  rung bigint NOT NULL DEFAULT 0,     -- how often its owner had to act, without what is in the inbox
  tools jsonb,                        -- what the tools have declared: [["tool", "kind", ...], ...]
  floors bytea NOT NULL DEFAULT ''    -- which rows are history
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200);

CREATE INDEX session_owner ON session (owner);
CREATE INDEX session_closed ON session (closed_ms) WHERE closed_ms > 0;

-- What a transaction of the session reads.
CREATE TABLE live (
  session bigint,
  kind smallint,
  n bigint,
  value bytea NOT NULL,
  PRIMARY KEY (session, kind, n)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
ALTER TABLE live ALTER value SET STORAGE EXTERNAL;

-- What has ended, by the day on which it did: days are dropped whole.
CREATE TABLE history (
  session bigint,
  kind smallint,
  n bigint,
  day date NOT NULL DEFAULT current_date,
  value bytea NOT NULL,
  PRIMARY KEY (session, kind, n, day)
) PARTITION BY RANGE (day);
CREATE TABLE history_other PARTITION OF history DEFAULT;

-- Pushes that no transaction of the session has seen yet: inserting takes no lock of the session.
CREATE TABLE inbox (
  name text,
  n bigint GENERATED ALWAYS AS IDENTITY,
  body bytea NOT NULL,
  rings boolean NOT NULL DEFAULT false,
  pushed timestamptz NOT NULL DEFAULT clock_timestamp(),
  counted bigint NOT NULL DEFAULT 0,    -- so many waited when the row of that number was the newest;
  counted_at bigint NOT NULL DEFAULT 0, -- 0: this is the first. See push_record
  PRIMARY KEY (name, n)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- Which pushes a session has seen.
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

-- [functions] An upgrade makes them anew.

-- The days of history: one partition a day, dropped when it is older than what is kept. Of a session
-- that was closed a day ago, and in which nothing waits, only the name and the head stay, which say
-- which numbers were given out. One call does a portion, which a hook that opens the store can wait for.
CREATE OR REPLACE FUNCTION keep_days(kept integer) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = @schema@, pg_temp AS $$
DECLARE
  today date;
  part record;
  now_ms bigint := floor(extract(epoch FROM clock_timestamp()) * 1000);
  a_day_ago_ms bigint := now_ms - 86400000;
BEGIN
  -- One client does it. The others go on, unless there is no table for what ends today.
  IF NOT pg_try_advisory_xact_lock(hashtext('@schema@ days')) THEN
    IF to_regclass(format('history_%s', to_char(current_date, 'YYYYMMDD'))) IS NOT NULL THEN RETURN; END IF;
    PERFORM pg_advisory_xact_lock(hashtext('@schema@ days'));
  END IF;
  FOREACH today IN ARRAY ARRAY[current_date, current_date + 1] LOOP
    IF to_regclass(format('history_%s', to_char(today, 'YYYYMMDD'))) IS NULL
       AND NOT EXISTS (SELECT FROM history_other WHERE day = today) THEN
      EXECUTE format('CREATE TABLE history_%s PARTITION OF history FOR VALUES FROM (%L) TO (%L)',
                     to_char(today, 'YYYYMMDD'), today, today + 1);
    END IF;
  END LOOP;
  FOR part IN SELECT relname FROM pg_class JOIN pg_inherits ON inhrelid = pg_class.oid
              WHERE inhparent = 'history'::regclass AND relname ~ '^history_[0-9]{8}$'
                AND to_date(right(relname, 8), 'YYYYMMDD') < current_date - kept LOOP
    EXECUTE format('DROP TABLE %I', part.relname);
  END LOOP;
  -- In the order in which a push writes them.
  DELETE FROM rate WHERE since_ms < a_day_ago_ms;
  DELETE FROM seen WHERE until < now() AND ctid = ANY (ARRAY(SELECT ctid FROM seen WHERE until < now() LIMIT 10000));
  -- One that is being written to is left for another time.
  FOR part IN SELECT session, name, closed_version = version AND waiting = 0 AND owner IS NULL AS closed FROM session
              WHERE closed_ms > 0 AND closed_ms < a_day_ago_ms ORDER BY closed_ms LIMIT 100
              FOR UPDATE SKIP LOCKED LOOP
    IF NOT part.closed THEN -- a client of schema 1 has opened it since
      UPDATE session SET closed_ms = 0 WHERE session = part.session;
    ELSIF EXISTS (SELECT FROM inbox WHERE name = part.name) THEN -- for whoever opens it
      UPDATE session SET closed_ms = now_ms WHERE session = part.session;
    ELSE
      DELETE FROM live WHERE session = part.session AND kind <> 3;
      DELETE FROM history WHERE session = part.session;
      DELETE FROM seen WHERE name = part.name AND at_ms < a_day_ago_ms; -- a push may be stored just now
      UPDATE session SET version = version + 1, closed_ms = 0, tools = NULL WHERE session = part.session;
    END IF;
  END LOOP;
END $$;

-- A number as a record has it (LEB128), and a signed one (zigzag).
CREATE OR REPLACE FUNCTION record_number(value bigint) RETURNS bytea LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
  bytes bytea := '';
BEGIN
  WHILE value >= 128 LOOP
    bytes := bytes || set_byte('\x00', 0, (value & 127 | 128)::integer);
    value := value >> 7;
  END LOOP;
  RETURN bytes || set_byte('\x00', 0, value::integer);
END $$;

CREATE OR REPLACE FUNCTION record_text(value text) RETURNS bytea LANGUAGE sql IMMUTABLE
SET search_path = @schema@, pg_temp AS $$
  SELECT record_number(octet_length(convert_to(coalesce(value, ''), 'UTF8'))) || convert_to(coalesce(value, ''), 'UTF8')
$$;

-- Stores a push whose record is made, or says 'duplicate'. Takes no lock of the session. Errors:
-- TDFUL (the session, or the minute of the source, is full), TDSCH (a kind that its tool has not
-- declared).
CREATE OR REPLACE FUNCTION push_record(to_name text, from_source text, with_id text, record bytea, at_ms bigint,
                            window_ms bigint, pending_limit bigint, critical boolean, rate_source text,
                            per_minute bigint, rings boolean, of_tool text, of_kind text)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp
SET enable_seqscan = off -- plans are kept, and an inbox may be empty when they are made
AS $$
DECLARE
  number bigint;
  known bigint;
  its_owner bytea;
  declared jsonb;
  waits bigint;
  room bigint := pending_limit;
  base bigint;
  base_n bigint;
  kinds jsonb;
  since bigint;
  told bytea;
BEGIN
  IF with_id <> '' THEN
    PERFORM FROM seen WHERE name = to_name AND source = from_source AND id = with_id
                            AND seen.at_ms >= push_record.at_ms - window_ms;
    IF FOUND THEN RETURN 'duplicate'; END IF;
  END IF;
  -- At most so many wait in the inbox: those that waited at a row before, and as many as numbers were given out since.
  -- What that would refuse is counted, from that row on, and the next pushes begin at a row that is not among the newest,
  -- since others push meanwhile. A push is refused only when all were counted.
  SELECT session.session, waiting, owner, tools, coalesce(counted, 0), coalesce(counted_at, 0), coalesce(counted + n - counted_at, 0)
    INTO number, known, its_owner, declared, base, base_n, waits
    FROM (SELECT) AS one LEFT JOIN session ON session.name = to_name
    LEFT JOIN LATERAL (SELECT n, CASE counted_at WHEN 0 THEN 1 ELSE counted END AS counted, CASE counted_at WHEN 0 THEN n ELSE counted_at END AS counted_at
                       FROM inbox WHERE name = to_name ORDER BY inbox.n DESC LIMIT 1) AS newest ON true;
  IF NOT critical THEN room := room - room / 20; END IF;
  waits := coalesce(known, 0) + waits;
  IF waits >= room AND room > 1024 THEN
    SELECT count(*) INTO waits FROM (SELECT FROM inbox WHERE name = to_name AND n > base_n LIMIT room) AS after;
    IF waits > 64 THEN
      SELECT n INTO base_n FROM inbox WHERE name = to_name AND n > base_n ORDER BY n OFFSET waits - 33 LIMIT 1;
      base := base + waits - 32;
      waits := 32;
    END IF;
    waits := coalesce(known, 0) + base + waits;
  END IF;
  IF waits >= room THEN
    SELECT count(*), coalesce(max(n), 0) INTO base, base_n FROM (SELECT n FROM inbox WHERE name = to_name LIMIT room) AS waiting;
    waits := coalesce(known, 0) + base;
  END IF;
  IF waits >= room THEN
    RAISE EXCEPTION USING ERRCODE = 'TDFUL', MESSAGE = format(
      'session "%s" has %s notifications that wait; the limit is %s (limits.pending_per_session), of which the last %s are for critical ones',
      to_name, waits, pending_limit, pending_limit / 20);
  END IF;
  IF declared IS NOT NULL AND of_kind IS NOT NULL THEN
    FOR kinds IN SELECT value FROM jsonb_array_elements(declared) LOOP
      IF kinds ->> 0 IN (nullif(of_tool, ''), rate_source) AND NOT (kinds - 0) ? of_kind THEN
        RAISE EXCEPTION USING ERRCODE = 'TDSCH', MESSAGE = format(
          'data.kind: tool "%s" has declared no kind "%s"; expected one of %s', kinds ->> 0, of_kind,
          (SELECT string_agg(value, ', ' ORDER BY place)
             FROM jsonb_array_elements_text(kinds - 0) WITH ORDINALITY AS all_kinds(value, place)));
      END IF;
    END LOOP;
  END IF;
  IF per_minute > 0 THEN
    INSERT INTO rate AS r VALUES (to_name, rate_source, push_record.at_ms, 1)
      ON CONFLICT (name, source) DO UPDATE SET
        pushed = CASE WHEN push_record.at_ms - r.since_ms BETWEEN 0 AND 59999 THEN r.pushed + 1 ELSE 1 END,
        since_ms = CASE WHEN push_record.at_ms - r.since_ms BETWEEN 0 AND 59999 THEN r.since_ms ELSE push_record.at_ms END
      RETURNING r.pushed, r.since_ms INTO waits, since;
    IF waits > per_minute THEN
      RAISE EXCEPTION USING ERRCODE = 'TDFUL', MESSAGE = format(
        'session "%s": source "%s" has pushed %s notifications in a minute, which is the limit (limits.source_per_minute); wait %s s',
        to_name, rate_source, per_minute, (since - push_record.at_ms + 60000 + 999) / 1000);
    END IF;
  END IF;
  IF with_id <> '' THEN
    INSERT INTO seen AS s VALUES (to_name, from_source, with_id, push_record.at_ms,
                                  clock_timestamp() + window_ms * interval '1 ms')
      ON CONFLICT (name, source, id) DO UPDATE SET at_ms = excluded.at_ms, until = excluded.until
      WHERE s.at_ms < push_record.at_ms - window_ms;
    IF NOT FOUND THEN RETURN 'duplicate'; END IF;
  END IF;
  INSERT INTO inbox (name, body, rings, counted, counted_at) VALUES (to_name, record, push_record.rings, base, base_n);
  IF push_record.rings AND its_owner IS NOT NULL THEN
    FOR told IN SELECT process FROM waiter WHERE owner = its_owner LOOP
      PERFORM pg_notify('tidings_' || encode(substr(told, 17), 'hex'), number::text);
    END LOOP;
  END IF;
  RETURN '';
END $$;

-- What any client may call: a notification to a session, with the plugin's checks and errors.
-- `kind` is "source.name". Returns '' or 'duplicate'. With an id, calling again is safe.
CREATE OR REPLACE FUNCTION push(session text, kind text, level text, message text, id text DEFAULT '',
                     source text DEFAULT '', data jsonb DEFAULT NULL, key text DEFAULT '',
                     ttl_ms bigint DEFAULT 0, activation text DEFAULT 'passive', tool text DEFAULT '',
                     handle text DEFAULT '', caused_by text DEFAULT '')
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp AS $$
DECLARE
  level_number integer := array_position(ARRAY['info', 'warning', 'error', 'critical'], level) - 1;
  activation_number integer := array_position(ARRAY['passive', 'idle', 'interrupt'], activation) - 1;
  kind_source text := split_part(kind, '.', 1);
  kind_name text := CASE WHEN position('.' IN kind) > 0 THEN substr(kind, position('.' IN kind) + 1) ELSE '' END;
  now_ms bigint := floor(extract(epoch FROM clock_timestamp()) * 1000);
  critical boolean := level_number = 3;
  wrong text;
BEGIN
  wrong := CASE
    WHEN coalesce(session, '') = '' THEN 'session: must not be empty'
    WHEN octet_length(session) > 255 THEN format('session: %s bytes are over the limit of 255', octet_length(session))
    WHEN session ~ '[[:cntrl:]]' THEN 'session: has a control character'
    WHEN coalesce(kind_source, '') = '' THEN 'data.kind: expected a source, a dot and a name: the source is empty'
    WHEN right(kind, 1) = '.' AND kind_name = '' THEN 'data.kind: expected a source, a dot and a name: the name is empty'
    WHEN kind ~ '[[:cntrl:]]' THEN 'data.kind: has a control character'
    WHEN octet_length(kind) > 1024 THEN 'data.kind: over the limit of 1024 bytes'
    WHEN level_number IS NULL THEN format('data.level: "%s"; expected one of info, warning, error, critical', level)
    WHEN activation_number IS NULL THEN format('data.activation: "%s"; expected one of passive, idle, interrupt', activation)
    WHEN coalesce(message, '') !~ '[^[:space:]]' THEN 'data.message: must not be empty or blank'
    WHEN octet_length(message) > 65536 THEN format('data.message: %s bytes are over the limit of 65536', octet_length(message))
    WHEN ttl_ms < 0 THEN format('data.ttl_ms: %s; expected 1 or more, or 0 for none', ttl_ms)
    WHEN greatest(octet_length(key), octet_length(tool), octet_length(handle), octet_length(caused_by),
                  octet_length(id), octet_length(source)) > 1024
      THEN 'key, tool, handle, caused_by, id, source: over the limit of 1024 bytes'
  END;
  IF wrong IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'TDSCH', MESSAGE = wrong;
  END IF;
  RETURN push_record(session, source, id,
    '\x01'::bytea || record_number(now_ms << 1) || record_number(coalesce(ttl_ms, 0) << 1)
      || record_number(level_number) || record_number(activation_number) || record_text(kind_source)
      || record_text(kind_name) || record_text(message) || record_text(data::text) || record_text(key)
      || record_text(tool) || record_text(handle) || record_text(caused_by),
    now_ms, 86400000, 10000, critical, kind_source, 0, critical OR activation_number > 0, tool, kind_name);
END $$;

-- [/functions]

-- Two roles of the tenant, if whoever runs this may make roles: one may push and nothing else, one does what hosts do. Grant them to logins.
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA @schema@ FROM public;
DO $$
BEGIN
  IF (SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user) THEN
    CREATE ROLE @schema@_producer;
    CREATE ROLE @schema@_host;
    GRANT USAGE ON SCHEMA @schema@ TO @schema@_producer, @schema@_host;
    GRANT EXECUTE ON FUNCTION push TO @schema@_producer;
    GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA @schema@ TO @schema@_host;
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA @schema@ TO @schema@_host;
    REVOKE INSERT, UPDATE, DELETE ON store FROM @schema@_host;
  END IF;
END $$;

INSERT INTO session (session) VALUES (0);
INSERT INTO store (schema) VALUES (2);
SELECT keep_days(30);
