-- SPDX-License-Identifier: MIT
--
-- The functions that check and store a push. An upgrade replaces them.

-- Writes a number as in a record (LEB128). The server inlines record_number into its callers.
CREATE OR REPLACE FUNCTION record_long_number(value bigint) RETURNS bytea LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
  bytes bytea := '';
BEGIN
  WHILE value >= 128 LOOP
    bytes := bytes || set_byte('\x00', 0, (value & 127 | 128)::integer);
    value := value >> 7;
  END LOOP;
  RETURN bytes || set_byte('\x00', 0, value::integer);
END $$;

CREATE OR REPLACE FUNCTION record_number(value bigint) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN value < 128 THEN set_byte('\x00', 0, value::integer) ELSE "@schema@".record_long_number(value) END
$$;

-- The same for a number of 36 to 42 bits, which has six bytes, without a loop. Until 2039, twice the time in ms is such a number.
CREATE OR REPLACE FUNCTION record_time(value bigint) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
  SELECT substr(int8send(x'8080808080000000'::bigint | ((value & 127) << 56) | ((value & 16256) << 41) | ((value & 2080768) << 26)
    | ((value & 266338304) << 11) | ((value & 34091302912) >> 4) | ((value & 4363686772736) >> 19)), 1, 6)
$$;

-- It is STABLE, like convert_to; otherwise the server could not inline it, and would parse and plan it at each call.
CREATE OR REPLACE FUNCTION record_text(value text) RETURNS bytea LANGUAGE sql STABLE AS $$
  SELECT "@schema@".record_number(octet_length(coalesce(value, ''))) || convert_to(coalesce(value, ''), 'UTF8')
$$;

-- Stores a push with a complete record, or returns 'duplicate'. It takes no lock of the session. Errors:
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
  room bigint;
  base bigint;
  base_n bigint;
  kinds jsonb;
  since bigint;
  told bytea;
  setting store%ROWTYPE;
BEGIN
  SELECT * INTO setting FROM store;
  IF setting.is_full AND NOT critical THEN
    RAISE EXCEPTION USING ERRCODE = 'TDFUL', MESSAGE = format('the store has more than %s bytes, which is its limit (store.bytes); nothing was stored', setting.bytes);
  END IF;
  pending_limit := least(pending_limit, setting.pending_per_session);
  room := pending_limit;
  IF with_id <> '' THEN
    PERFORM FROM seen WHERE name = to_name AND source = from_source AND id = with_id
                            AND seen.at_ms >= push_record.at_ms - window_ms;
    IF FOUND THEN RETURN 'duplicate'; END IF;
  END IF;
  -- The estimate is an upper limit of the waiting pushes: the number that waited at an earlier row, and the numbers given out since. If the estimate
  -- would refuse the push, the rows from that row on are counted; the next pushes begin at a row that is not among the newest, because other clients
  -- push meanwhile. A push is refused only after all rows were counted.
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

-- Quotes a text for an error: at most 80 characters, with the numbers of invisible characters.
CREATE OR REPLACE FUNCTION text_quoted(value text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  kept text := left(value, 80);
  shown text := '';
  one text;
BEGIN
  WHILE octet_length(kept) > 80 LOOP kept := left(kept, -1); END LOOP;
  FOREACH one IN ARRAY regexp_split_to_array(kept, '') LOOP
    shown := shown || CASE WHEN one IN ('"', '\') THEN '\' || one
      WHEN one ~ '[\u0001-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]' THEN '{U+' || lpad(upper(to_hex(ascii(one))), 4, '0') || '}'
      ELSE one END;
  END LOOP;
  RETURN '"' || shown || CASE WHEN kept <> value THEN chr(8230) ELSE '' END || '"';
END $$;

-- Returns the plugin's error for a text. NULL: the text is valid.
CREATE OR REPLACE FUNCTION text_fault(field text, value text, most integer, empty boolean, clean boolean) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN octet_length(value) > most THEN format('%s: %s bytes are over the limit of %s', field, octet_length(value), most)
    WHEN value = '' AND NOT empty THEN field || ': must not be empty'
    WHEN clean AND value ~ '[\u0001-\u001f\u007f-\u009f]' THEN format('%s: %s has the control character U+%s', field, "@schema@".text_quoted(value),
      lpad(upper(to_hex(ascii(substring(value FROM '[\u0001-\u001f\u007f-\u009f]')))), 4, '0'))
  END
$$;

-- Returns the plugin's error for a push; plugin/event checks events in the same way. NULL: the push is valid.
CREATE OR REPLACE FUNCTION push_fault(session text, kind text, level text, message text, id text, source text, data jsonb, key text,
                     ttl_ms bigint, activation text, tool text, handle text, caused_by text)
RETURNS text LANGUAGE sql STABLE SET search_path = "@schema@", pg_temp AS $$
  SELECT coalesce(
    (SELECT format('event: %s bytes are over the limit of 262144 (limits.event_bytes)', bytes) FROM (SELECT octet_length(coalesce(message, ''))
       + octet_length(coalesce(data::text, '')) AS bytes) AS sum WHERE bytes > 262144),
    CASE WHEN data IS NOT NULL AND jsonb_path_exists(data, 'strict $.**{14 to last} ? (@.type() == "object" || @.type() == "array")') THEN 'event: nested deeper than 16 levels' END,
    CASE WHEN session IS NULL THEN 'session: missing; expected the id of a session' END,
    text_fault('session', session, 255, false, true),
    text_fault('source', source, 1024, true, true),
    text_fault('id', id, 1024, true, true),
    CASE WHEN kind IS NULL THEN 'data.kind: missing; expected "source.name" or an object with source and name' END,
    text_fault('data.kind', kind, 1024, false, true),
    CASE WHEN kind LIKE '.%' THEN format('data.kind: %s is not a source, a dot and a name: the source is empty', text_quoted(kind))
      WHEN kind ~ '^[^.]+\.$' THEN format('data.kind: %s is not a source, a dot and a name: the name is empty', text_quoted(kind))
      WHEN message IS NULL THEN 'data.message: missing; expected a string'
      WHEN message !~ '[^ \t\r\n]' THEN 'data.message: must not be empty or blank'
      WHEN level IS NULL OR level NOT IN ('info', 'warning', 'error', 'critical')
        THEN format('data.level: %s is not one of info, warning, error, critical', coalesce(text_quoted(level), 'null'))
      WHEN ttl_ms < 0 THEN format('data.ttl_ms: %s is not an integer of at least 1', ttl_ms)
      WHEN activation IS NULL OR activation NOT IN ('passive', 'idle', 'interrupt', 'silent')
        THEN format('data.activation: %s is not one of passive, idle, interrupt, silent', coalesce(text_quoted(activation), 'null'))
      WHEN activation = 'silent' AND (SELECT store.schema < 4 FROM store)
        THEN 'data.activation: silent; expected another one as long as older builds may use this store'
      WHEN activation = 'silent' AND coalesce(key, '') = '' THEN 'data.key: missing; expected the key of what a silent notification takes back' END,
    text_fault('data.key', key, 1024, true, false), text_fault('data.tool', tool, 1024, true, false),
    text_fault('data.handle', handle, 1024, true, false), text_fault('data.caused_by', caused_by, 1024, true, false))
$$;

-- Returns the plugin's error for a number in a text of JSON that not every reader can represent. NULL: there is none.
CREATE OR REPLACE FUNCTION number_fault(value text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT format('event: %s is not a number of 64 bits', "@schema@".text_quoted(number))
  FROM regexp_matches(regexp_replace(value, '"(?:[^"\\]|\\.)*"', '', 'g'), '[-0-9][-+.0-9eE]*', 'g') AS found(words), unnest(words) AS number
  WHERE CASE WHEN number ~ '[.eE]' THEN abs(number::numeric) >= 1e308 ELSE number::numeric NOT BETWEEN -9223372036854775808 AND 9223372036854775807 END
  LIMIT 1
$$;

-- Cuts a message to the plugin's length, and appends how many bytes it cut.
CREATE OR REPLACE FUNCTION text_cut(value text, most integer) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
  bytes bytea := convert_to(value, 'UTF8');
  kept integer := most;
BEGIN
  IF octet_length(bytes) <= most THEN RETURN value; END IF;
  WHILE get_byte(bytes, kept) & 192 = 128 LOOP kept := kept - 1; END LOOP; -- within a character
  RETURN format('%s%s (%s more bytes)', convert_from(substr(bytes, 1, kept), 'UTF8'), chr(8230), octet_length(bytes) - kept);
END $$;

-- Any push, with all checks.
CREATE OR REPLACE FUNCTION push_any(session text, kind text, level text, message text, id text, source text, data jsonb, key text, ttl_ms bigint,
                     activation text, tool text, handle text, caused_by text)
RETURNS text LANGUAGE plpgsql SET search_path = "@schema@", pg_temp AS $$
DECLARE
  wrong text;
  level_number integer := array_position(ARRAY['info', 'warning', 'error', 'critical'], level) - 1;
  activation_number integer := array_position(ARRAY['passive', 'idle', 'interrupt', 'silent'], activation) - 1;
  kind_source text := split_part(kind, '.', 1);
  kind_name text := CASE WHEN position('.' IN kind) > 0 THEN substr(kind, position('.' IN kind) + 1) ELSE '' END;
  now_ms bigint := floor(extract(epoch FROM clock_timestamp()) * 1000);
  critical boolean := level_number = 3;
  rest bytea;
BEGIN
  -- For most pushes these few checks are enough.
  IF (data IS NULL AND session || kind || id || source !~ '[\u0001-\u001f\u007f-\u009f]' AND octet_length(session) BETWEEN 1 AND 255
      AND octet_length(message) <= 16384 AND message ~ '[^ \t\r\n]' AND kind_source <> '' AND right(kind, 1) <> '.' AND ttl_ms >= 0
      AND level_number >= 0 AND activation_number BETWEEN 0 AND 2
      AND octet_length(kind || id || source || key || tool || handle || caused_by) <= 1024) IS NOT TRUE THEN
    wrong := coalesce(number_fault(data::text),
                      push_fault(session, kind, level, message, id, source, data, key, ttl_ms, activation, tool, handle, caused_by));
  END IF;
  IF wrong IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'TDSCH', MESSAGE = wrong;
  END IF;
  -- Each expression costs time in each transaction, even if it is not evaluated, so these are branches.
  IF octet_length(message) > 16384 THEN
    message := text_cut(message, 16384);
  END IF;
  IF data IS NULL AND key || tool || handle || caused_by = '' THEN
    rest := '\x0000000000';
  ELSE
    rest := record_text(data::text) || record_text(key) || record_text(tool) || record_text(handle) || record_text(caused_by);
  END IF;
  RETURN push_record(session, coalesce(source, ''), coalesce(id, ''),
    '\x01'::bytea || record_number(now_ms << 1) || record_number(least(coalesce(ttl_ms, 0), 4611686018427387903) << 1)
      || set_byte(set_byte('\x0000', 0, level_number), 1, activation_number) || record_text(kind_source)
      || record_text(kind_name) || record_text(message) || rest,
    now_ms, 86400000, 10000, critical, kind_source, 0,
    activation <> 'silent' AND (critical OR activation_number > 0), tool, kind_name);
END $$;

-- The row of a push that needs few checks: it has a text, no id, no data and nobody to wake, and its session is not nearly full and
-- has no declared kinds. No row: push() calls push_any. Names are bound when the function is made, so that push() needs no search_path of its own,
-- which would take a tenth of a push; the server inlines the function there. It has few operators, because each costs time in each transaction.
CREATE OR REPLACE FUNCTION push_row(session text, kind text, level text, message text, id text, source text, data jsonb, key text,
                         ttl_ms bigint, activation text, tool text, handle text, caused_by text)
RETURNS TABLE (name text, body bytea, counted bigint, counted_at bigint) LANGUAGE sql STABLE BEGIN ATOMIC
  SELECT session,
         '\x01'::bytea || record_time(now_ms << 1) || '\x00' || CASE level WHEN 'info' THEN '\x00'::bytea WHEN 'warning' THEN '\x01' ELSE '\x02' END || '\x00'
           || set_byte('\x00', 0, octet_length(split_part(kind, '.', 1))) || convert_to(split_part(kind, '.', 1), 'UTF8')
           || set_byte('\x00', 0, octet_length(substr(kind, position('.' IN kind) + 1))) || convert_to(substr(kind, position('.' IN kind) + 1), 'UTF8')
           || CASE WHEN octet_length(message) < 128 THEN set_byte('\x00', 0, octet_length(message))
                ELSE set_byte(set_byte('\x0000', 0, octet_length(message) & 127 | 128), 1, octet_length(message) >> 7) END
           || convert_to(message, 'UTF8') || '\x0000000000',
         coalesce(waits, 0), coalesce(n, 0)
  FROM (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now_ms) AS clock
    LEFT JOIN LATERAL (SELECT n, CASE counted_at WHEN 0 THEN 1 ELSE counted + n - counted_at END AS waits
                       FROM inbox WHERE inbox.name = push_row.session ORDER BY n DESC LIMIT 1) AS newest ON true
  WHERE id = '' AND data IS NULL AND ttl_ms = 0 AND level IN ('info', 'warning', 'error') AND activation = 'passive'
    AND key || tool || handle || caused_by = '' AND octet_length(session) BETWEEN 1 AND 255 AND octet_length(source) <= 1024
    AND octet_length(kind) < 128 AND position('.' IN kind) BETWEEN 2 AND length(kind) - 1
    AND session || kind || source !~ '[\u0001-\u001f\u007f-\u009f]' AND octet_length(message) < 16384 AND message ~ '[^ \t\r\n]'
    AND coalesce(waits, 0) + coalesce((SELECT CASE WHEN tools IS NULL THEN waiting ELSE 10000 END FROM session AS s WHERE s.name = push_row.session), 0)
      < coalesce((SELECT least(10000, pending_per_session) - least(10000, pending_per_session) / 20 FROM store WHERE one AND NOT is_full), 0);
END;

-- Any client may call this: it pushes a notification to a session, with the plugin's checks and
-- errors. `kind` is "source.name". Returns '' or 'duplicate'. With an id, calling again is safe.
-- It uses no operator and no name without a schema, so that a caller's search_path has no effect.
CREATE OR REPLACE FUNCTION push(session text, kind text, level text, message text, id text DEFAULT '',
                     source text DEFAULT '', data jsonb DEFAULT NULL, key text DEFAULT '',
                     ttl_ms bigint DEFAULT 0, activation text DEFAULT 'passive', tool text DEFAULT '',
                     handle text DEFAULT '', caused_by text DEFAULT '')
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET enable_seqscan = off AS $$ -- plans are kept, and an inbox may be empty when they are made
BEGIN
  INSERT INTO "@schema@".inbox (name, body, counted, counted_at)
    SELECT * FROM "@schema@".push_row(session, kind, level, message, id, source, data, key, ttl_ms, activation, tool, handle, caused_by);
  IF FOUND THEN RETURN ''; END IF;
  RETURN "@schema@".push_any(session, kind, level, message, id, source, data, key, ttl_ms, activation, tool, handle, caused_by);
END $$;

-- Reads the fields of a record. Bytes that are no record are an error.
CREATE OR REPLACE FUNCTION record_fields(record bytea, OUT numbers bigint[], OUT texts text[]) LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  place integer := 1;
  shift integer;
  number bigint;
  byte integer;
BEGIN
  numbers := '{}';
  texts := '{}';
  IF get_byte(record, 0) <> 1 THEN RAISE EXCEPTION USING ERRCODE = 'TDSCH', MESSAGE = 'a record of another format'; END IF;
  -- Four numbers and eight texts; then two numbers, three of a copy's origin, and the time at which it is due, which may all be missing.
  FOR part IN 1..18 LOOP
    EXIT WHEN part IN (13, 14, 15, 18) AND place = octet_length(record);
    number := 0;
    shift := 0;
    LOOP
      byte := get_byte(record, place);
      number := number | ((byte & 127)::bigint << shift);
      place := place + 1;
      shift := shift + 7;
      EXIT WHEN byte < 128;
      IF shift > 63 THEN RAISE EXCEPTION 'a number is too long'; END IF;
    END LOOP;
    IF part BETWEEN 5 AND 12 THEN
      IF number < 0 OR number > octet_length(record) - place THEN RAISE EXCEPTION 'a text is too long'; END IF;
      texts := texts || convert_from(substr(record, place + 1, number::integer), 'UTF8');
      place := place + number::integer;
    ELSE
      numbers := numbers || number;
    END IF;
  END LOOP;
  IF place <> octet_length(record) THEN RAISE EXCEPTION 'it goes on'; END IF;
EXCEPTION WHEN data_exception OR raise_exception THEN
  RAISE EXCEPTION USING ERRCODE = 'TDSCH', MESSAGE = 'a record that cannot be read: ' || SQLERRM;
END $$;

-- Returns when a push is due. 0: at once, or the record cannot be read.
CREATE OR REPLACE FUNCTION record_due_ms(record bytea) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN coalesce(((SELECT numbers[10] FROM "@schema@".record_fields(record)) >> 1) & 9223372036854775807, 0);
EXCEPTION WHEN SQLSTATE 'TDSCH' THEN RETURN 0;
END $$;

-- Names the fields of a record.
CREATE OR REPLACE FUNCTION record_named(numbers bigint[], texts text[], OUT pushed_ms bigint, OUT ttl_ms bigint, OUT level text, OUT activation text,
                     OUT kind text, OUT message text, OUT data text, OUT key text, OUT tool text, OUT handle text, OUT caused_by text)
LANGUAGE sql IMMUTABLE AS $$
  SELECT (numbers[1] >> 1) & 9223372036854775807, (numbers[2] >> 1) & 9223372036854775807,
         CASE numbers[3] WHEN 0 THEN 'info' WHEN 1 THEN 'warning' WHEN 2 THEN 'error' WHEN 3 THEN 'critical' END,
         CASE numbers[4] WHEN 0 THEN 'passive' WHEN 1 THEN 'idle' WHEN 2 THEN 'interrupt' WHEN 3 THEN 'silent' END,
         texts[1] || CASE WHEN texts[2] = '' THEN '' ELSE '.' || texts[2] END, texts[3], texts[4], texts[5], texts[6], texts[7], texts[8]
$$;

CREATE OR REPLACE FUNCTION record_read(record bytea, OUT pushed_ms bigint, OUT ttl_ms bigint, OUT level text, OUT activation text,
                     OUT kind text, OUT message text, OUT data text, OUT key text, OUT tool text, OUT handle text, OUT caused_by text)
LANGUAGE sql IMMUTABLE AS $$
  SELECT named.* FROM "@schema@".record_fields(record) AS field, "@schema@".record_named(field.numbers, field.texts) AS named
$$;

-- The command calls this with a login that may only push: it reads and checks the record, and applies the limits of push().
CREATE OR REPLACE FUNCTION push_as_producer(to_name text, from_source text, with_id text, record bytea, per_minute bigint, checks_kind boolean)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = "@schema@", pg_temp AS $$
DECLARE
  field record;
  wrong text;
  now_ms bigint := floor(extract(epoch FROM clock_timestamp()) * 1000);
BEGIN
  SELECT named.*, numbers INTO field FROM record_fields($4) AS fields, record_named(fields.numbers, fields.texts) AS named;
  wrong := coalesce(
    push_fault(to_name, field.kind, field.level, field.message, with_id, from_source, nullif(field.data, '')::jsonb, field.key,
               field.ttl_ms, field.activation, field.tool, field.handle, field.caused_by),
    number_fault(field.data),
    CASE WHEN field.numbers[7] <> 0 OR field.numbers[8] <> 0 OR field.numbers[9] <> 0 THEN 'a record of a copy; expected one of a push' END,
    CASE WHEN field.numbers[10] >> 1 NOT BETWEEN 1 AND 253402300799999
      THEN format('data.due_at: %s is not a time in ms before the year 10000', field.numbers[10] >> 1) END);
  IF wrong IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'TDSCH', MESSAGE = wrong;
  END IF;
  RETURN push_record(to_name, from_source, with_id, $4, now_ms, 86400000, 10000, field.level = 'critical', split_part(field.kind, '.', 1), per_minute,
    field.activation <> 'silent' AND (field.level = 'critical' OR field.activation <> 'passive'), field.tool,
    CASE WHEN checks_kind THEN CASE WHEN position('.' IN field.kind) > 0 THEN substr(field.kind, position('.' IN field.kind) + 1) ELSE '' END END);
END $$;
