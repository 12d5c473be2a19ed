-- SPDX-License-Identifier: MIT
--
-- The functions of a store on PostgreSQL. An upgrade replaces them.

-- A table for the rows that end on that day. It is made as a separate table and then attached to the history, which does not wait for clients that
-- read or write there.
CREATE OR REPLACE FUNCTION make_day(its_day date) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = "@schema@", pg_temp SET lock_timeout = '100ms' AS $$
DECLARE
  its_name text := 'history_' || to_char(its_day, 'YYYYMMDD');
BEGIN
  IF to_regclass(its_name) IS NOT NULL THEN RETURN; END IF;
  EXECUTE format('CREATE TABLE %I (LIKE history INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING INDEXES)', its_name);
  EXECUTE format('ALTER TABLE history ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', its_name, its_day, its_day + 1);
END $$;

-- The work of each day, which any client does when it has time: it makes the days of history a week ahead, drops the old ones, and removes sessions
-- that were closed a day ago and in which nothing waits (in upgraded tables, whose older clients remember numbers, their names and heads stay). Each
-- call does a portion. A push that no session takes ends when its ttl is over, or after `inbox_days`; both begin when it is due. It never waits for a
-- lock: locked rows are left for the next call. The store's own settings count; `kept` is unused, but builds of schema 2 pass it.
CREATE OR REPLACE FUNCTION keep_days(kept integer) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = "@schema@", pg_temp SET lock_timeout = '100ms' SET timezone = 'UTC' AS $$
DECLARE
  part record;
  setting store%ROWTYPE;
  now_ms bigint := floor(extract(epoch FROM clock_timestamp()) * 1000);
  a_day_ago_ms bigint := now_ms - 86400000;
  gone bigint[] := '{}';
BEGIN
  -- Only one client at a time does it; the others return. The lock is a row's lock, which only roles that may write here can hold.
  SELECT * INTO setting FROM store FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN; END IF;
  BEGIN -- from yesterday on, because an older client may use a time zone in which the day has not changed yet
    PERFORM make_day(current_date + n) FROM generate_series(-1, 7) AS n;
  EXCEPTION WHEN lock_not_available OR deadlock_detected THEN NULL;
  END;
  DELETE FROM rate WHERE ctid = ANY (ARRAY(SELECT ctid FROM rate WHERE since_ms < a_day_ago_ms LIMIT 10000 FOR UPDATE SKIP LOCKED));
  DELETE FROM seen WHERE ctid = ANY (ARRAY(SELECT ctid FROM seen WHERE until < now() LIMIT 10000 FOR UPDATE SKIP LOCKED));
  WITH over AS (
    DELETE FROM inbox WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM inbox
      WHERE (pushed < clock_timestamp() - setting.inbox_days * interval '1 day' AND record_due_ms(body) < now_ms - setting.inbox_days * 86400000::bigint)
        OR (pushed < clock_timestamp() - interval '10 minutes' AND record_is_over(body, now_ms)
            AND NOT EXISTS (SELECT FROM session WHERE session.name = inbox.name AND owner IS NOT NULL))
      LIMIT 5000 FOR UPDATE SKIP LOCKED)) RETURNING name, n, pushed, body)
  INSERT INTO dead_letter (name, n, pushed, reason, body)
    SELECT name, n, pushed, CASE WHEN record_is_over(body, now_ms) THEN 'its ttl was over' ELSE 'nobody took it' END, body FROM over
    ON CONFLICT DO NOTHING;
  DELETE FROM dead_letter WHERE ctid = ANY (ARRAY(SELECT ctid FROM dead_letter WHERE ended < now() - setting.history_days * interval '1 day'
                                                  LIMIT 10000 FOR UPDATE SKIP LOCKED));
  UPDATE store SET is_full = NOT is_full WHERE is_full <> coalesce(store_bytes() > setting.bytes, false);
  FOR part IN SELECT session, name, closed_version = version AND waiting = 0 AND owner IS NULL AS closed FROM session
              WHERE closed_ms > 0 AND closed_ms < a_day_ago_ms ORDER BY closed_ms LIMIT 100
              FOR UPDATE SKIP LOCKED LOOP
    IF NOT part.closed THEN -- a client of schema 1 has opened it since
      UPDATE session SET closed_ms = 0 WHERE session = part.session;
    ELSIF EXISTS (SELECT FROM inbox WHERE name = part.name) THEN -- the next host takes these pushes
      UPDATE session SET closed_ms = now_ms WHERE session = part.session;
    ELSE
      gone := gone || part.session;
    END IF;
  END LOOP;
  PERFORM remove_sessions(gone);
  -- This is the last step, because its lock stays until the transaction has ended. The lock is taken only if it is free: a long read of the history
  -- delays only the removal of old days.
  BEGIN
    FOR part IN SELECT relname FROM pg_class WHERE relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'history'::regclass)
                AND relkind = 'r' AND relname ~ '^history_[0-9]{8}$' AND to_date(right(relname, 8), 'YYYYMMDD') < current_date - setting.history_days LOOP
      EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE NOWAIT', part.relname);
      LOCK TABLE ONLY history IN ACCESS EXCLUSIVE MODE NOWAIT;
      EXECUTE format('DROP TABLE %I', part.relname);
    END LOOP;
  EXCEPTION WHEN lock_not_available OR deadlock_detected THEN NULL;
  END;
END $$;

-- The size of all tables with their indexes.
CREATE OR REPLACE FUNCTION store_bytes() RETURNS bigint LANGUAGE sql STABLE SET search_path = "@schema@", pg_temp AS $$
  SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class
  WHERE relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'store'::regclass) AND relkind = 'r'
$$;

-- Has the ttl of the push ended? It begins when the push is due. Most records are judged by their first two numbers.
CREATE OR REPLACE FUNCTION record_is_over(record bytea, now_ms bigint) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  numbers bigint[] := '{0, 0}';
  place integer := 1;
  shift integer;
  byte integer;
BEGIN
  FOR part IN 1..2 LOOP
    shift := 0;
    LOOP
      byte := get_byte(record, place);
      numbers[part] := numbers[part] | ((byte & 127)::bigint << shift);
      place := place + 1;
      shift := shift + 7;
      EXIT WHEN byte < 128 OR shift > 63;
    END LOOP;
  END LOOP;
  RETURN numbers[2] > 0 AND (numbers[2] >> 1) < now_ms - (numbers[1] >> 1) AND (numbers[2] >> 1) < now_ms - "@schema@".record_due_ms(record);
EXCEPTION WHEN data_exception THEN RETURN false;
END $$;

-- The pushes that ended in the inbox.
CREATE OR REPLACE VIEW dead_letters AS
  SELECT name AS session, pushed, ended, reason, kind, level, message, data, key, tool, ttl_ms,
         to_timestamp(nullif(least(record_due_ms(body), 253402300800000), 0) / 1000.0) AS due FROM dead_letter, record_read(body);

-- Removes all rows of these sessions, and their names. Names and heads stay while older clients, which remember numbers, may use the tables.
-- A name's row is found by its record, which has a format, the number, the name and a checksum.
-- The rows of names with the same hash follow each other: such a row stays if another one follows it, and so does its session's row.
CREATE OR REPLACE FUNCTION remove_sessions(which bigint[]) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = "@schema@", pg_temp AS $$
DECLARE
  nameless bigint[];
BEGIN
  IF (SELECT schema FROM store) < 4 THEN
    DELETE FROM live WHERE session = ANY (which) AND kind <> 3;
    DELETE FROM history WHERE session = ANY (which);
    UPDATE session SET version = version + 1, closed_ms = 0, waiting = 0, tools = NULL WHERE session = ANY (which);
    RETURN;
  END IF;
  DELETE FROM live WHERE session = ANY (which);
  DELETE FROM history WHERE session = ANY (which);
  WITH gone AS (
    DELETE FROM live AS own USING session AS s
    WHERE s.session = ANY (which) AND own.session = 0 AND own.kind = 2
      AND substr(own.value, 1, greatest(octet_length(own.value) - 4, 0)) = '\x01'::bytea || record_number(s.session) || record_text(s.name)
      AND NOT EXISTS (SELECT FROM live AS other WHERE other.session = 0 AND other.kind = 2 AND other.n = own.n + 1)
    RETURNING s.session)
  SELECT array_agg(session) INTO nameless FROM gone;
  DELETE FROM session WHERE session = ANY (nameless) OR (session = ANY (which) AND name IS NULL);
  UPDATE session SET version = version + 1, closed_ms = 0, closed_version = 0, waiting = 0, owner = NULL, tools = NULL, floors = '' WHERE session = ANY (which);
END $$;

-- Counts the rows of a session.
CREATE OR REPLACE FUNCTION forget_count(its_name text, OUT notifications bigint, OUT deliveries bigint, OUT messages bigint, OUT others bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = "@schema@", pg_temp AS $$
  SELECT count(*) FILTER (WHERE kind = 4), count(*) FILTER (WHERE kind = 5), count(*) FILTER (WHERE kind = 8), count(*) FILTER (WHERE kind NOT IN (4, 5, 8))
  FROM (SELECT kind FROM live WHERE session = (SELECT session FROM session WHERE name = its_name)
        UNION ALL SELECT kind FROM history WHERE session = (SELECT session FROM session WHERE name = its_name)
        UNION ALL SELECT 4 FROM inbox WHERE name = its_name
        UNION ALL SELECT 4 FROM dead_letter WHERE name = its_name
        UNION ALL SELECT 0 FROM rate WHERE name = its_name
        UNION ALL SELECT 0 FROM seen WHERE name = its_name
        UNION ALL SELECT 0 FROM session WHERE name = its_name) AS its
$$;

-- Deletes a portion of everything that the store has of a session, and counts it: first its history, which no transaction locks; then, if fewer than
-- `most` rows were deleted, all other rows, and its name. It refuses if a host has the session, except if `ended` is that host, which has ended.
CREATE OR REPLACE FUNCTION forget_some(its_name text, most integer, ended bytea, OUT done boolean, OUT notifications bigint, OUT deliveries bigint,
                                       OUT messages bigint, OUT others bigint) LANGUAGE plpgsql SECURITY DEFINER SET search_path = "@schema@", pg_temp AS $$
DECLARE
  its session%ROWTYPE;
  next record;
  rest record;
  part bigint;
BEGIN
  SELECT * INTO its FROM session WHERE name = its_name FOR UPDATE;
  IF its.owner IS NOT NULL AND its.owner IS DISTINCT FROM ended THEN
    RAISE EXCEPTION USING ERRCODE = 'TDSTA', MESSAGE = format('session %s has a host; close it, or let another process take it over and close it', text_quoted(its_name));
  END IF;
  SELECT kind, n INTO next FROM history WHERE session = its.session ORDER BY kind, n OFFSET most LIMIT 1;
  done := NOT FOUND;
  WITH gone AS (DELETE FROM history WHERE session = its.session AND (done OR (kind, n) < (next.kind, next.n)) RETURNING kind)
    SELECT count(*) FILTER (WHERE kind = 4), count(*) FILTER (WHERE kind = 5), count(*) FILTER (WHERE kind = 8), count(*) FILTER (WHERE kind NOT IN (4, 5, 8))
    INTO notifications, deliveries, messages, others FROM gone;
  IF NOT done THEN RETURN; END IF;
  DELETE FROM seen WHERE ctid = ANY (ARRAY(SELECT ctid FROM seen WHERE name = its_name LIMIT most));
  GET DIAGNOSTICS part = ROW_COUNT;
  others := others + part;
  done := part < most;
  IF NOT done THEN RETURN; END IF;
  SELECT * INTO rest FROM forget_count(its_name);
  notifications := notifications + rest.notifications;
  deliveries := deliveries + rest.deliveries;
  messages := messages + rest.messages;
  others := others + rest.others;
  DELETE FROM inbox WHERE name = its_name;
  DELETE FROM rate WHERE name = its_name;
  DELETE FROM dead_letter WHERE name = its_name;
  IF its.session IS NOT NULL THEN PERFORM remove_sessions(ARRAY[its.session]); END IF;
END $$;

-- The same in one transaction; only clients that open the session wait for it. Returns whether it deleted any row.
CREATE OR REPLACE FUNCTION forget(its_name text) RETURNS boolean LANGUAGE sql SECURITY DEFINER SET search_path = "@schema@", pg_temp AS $$
  SELECT notifications + deliveries + messages + others > 0 FROM forget_some(its_name, 2147483647, NULL)
$$;
