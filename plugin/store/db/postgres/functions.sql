-- SPDX-License-Identifier: MIT
--
-- The functions of a store on PostgreSQL. An upgrade makes them anew.

-- A table for the rows that end on that day. It is made beside the history, and attaching it waits for nobody who reads or writes there.
CREATE OR REPLACE FUNCTION make_day(its_day date) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = "@schema@", pg_temp SET lock_timeout = '100ms' AS $$
DECLARE
  its_name text := 'history_' || to_char(its_day, 'YYYYMMDD');
BEGIN
  IF to_regclass(its_name) IS NOT NULL THEN RETURN; END IF;
  EXECUTE format('CREATE TABLE %I (LIKE history INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING INDEXES)', its_name);
  EXECUTE format('ALTER TABLE history ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', its_name, its_day, its_day + 1);
END $$;

-- What is done once a day, by whoever has time: days of history are made, a week ahead, and dropped; of a session that was closed a day
-- ago, and in which nothing waits, only the name and the head stay, which say which numbers were given out. One call does a portion.
-- It waits for nobody: what is locked is left for another time.
CREATE OR REPLACE FUNCTION keep_days(kept integer) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = "@schema@", pg_temp SET lock_timeout = '100ms' SET timezone = 'UTC' AS $$
DECLARE
  part record;
  now_ms bigint := floor(extract(epoch FROM clock_timestamp()) * 1000);
  a_day_ago_ms bigint := now_ms - 86400000;
BEGIN
  -- One client does it, the others go on. It is a row's lock, which only those can hold who may write here.
  PERFORM FROM store FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN; END IF;
  BEGIN -- from yesterday on: an older client's time zone may be behind
    PERFORM make_day(current_date + n) FROM generate_series(-1, 7) AS n;
  EXCEPTION WHEN lock_not_available OR deadlock_detected THEN NULL;
  END;
  DELETE FROM rate WHERE ctid = ANY (ARRAY(SELECT ctid FROM rate WHERE since_ms < a_day_ago_ms LIMIT 10000 FOR UPDATE SKIP LOCKED));
  DELETE FROM seen WHERE ctid = ANY (ARRAY(SELECT ctid FROM seen WHERE until < now() LIMIT 10000 FOR UPDATE SKIP LOCKED));
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
      DELETE FROM seen WHERE ctid = ANY (ARRAY(SELECT ctid FROM seen WHERE name = part.name AND at_ms < a_day_ago_ms
                                               FOR UPDATE SKIP LOCKED)); -- a push may be stored just now
      UPDATE session SET version = version + 1, closed_ms = 0, tools = NULL WHERE session = part.session;
    END IF;
  END LOOP;
  -- The last, since the lock stays until this has ended. It is taken if nobody has to wait for it: who reads the history for long keeps
  -- its old days, and nothing else.
  BEGIN
    FOR part IN SELECT relname FROM pg_class WHERE relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'history'::regclass)
                AND relkind = 'r' AND relname ~ '^history_[0-9]{8}$' AND to_date(right(relname, 8), 'YYYYMMDD') < current_date - kept LOOP
      EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE NOWAIT', part.relname);
      LOCK TABLE ONLY history IN ACCESS EXCLUSIVE MODE NOWAIT;
      EXECUTE format('DROP TABLE %I', part.relname);
    END LOOP;
  EXCEPTION WHEN lock_not_available OR deadlock_detected THEN NULL;
  END;
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
SET search_path = "@schema@", pg_temp AS $$
  SELECT record_number(octet_length(convert_to(coalesce(value, ''), 'UTF8'))) || convert_to(coalesce(value, ''), 'UTF8')
$$;

-- Stores a push whose record is made, or says 'duplicate'. Takes no lock of the session. Errors:
-- TDFUL (the session, or the minute of the source, is full), TDSCH (a kind that its tool has not
-- declared).
CREATE OR REPLACE FUNCTION push_record(to_name text, from_source text, with_id text, record bytea, at_ms bigint,
                            window_ms bigint, pending_limit bigint, critical boolean, rate_source text,
                            per_minute bigint, rings boolean, of_tool text, of_kind text)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = "@schema@", pg_temp
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
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = "@schema@", pg_temp AS $$
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
