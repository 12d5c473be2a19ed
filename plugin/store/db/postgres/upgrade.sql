-- SPDX-License-Identifier: MIT
--
-- Upgrades the tables of schema number 2 while they are in use. Each step is a transaction of its own, which waits a moment for its locks and is
-- tried again. Hosts of number 2 can use the upgraded tables, and hosts of this build can use tables that are not upgraded yet.

-- [step]
SET LOCAL search_path = "@schema@";
ALTER TABLE store ADD COLUMN IF NOT EXISTS revision integer,
  ADD COLUMN IF NOT EXISTS history_days integer NOT NULL DEFAULT 30 CHECK (history_days > 0),
  ADD COLUMN IF NOT EXISTS inbox_days integer NOT NULL DEFAULT 30 CHECK (inbox_days > 0),
  ADD COLUMN IF NOT EXISTS pending_per_session bigint CHECK (pending_per_session > 0),
  ADD COLUMN IF NOT EXISTS bytes bigint CHECK (bytes > 0),
  ADD COLUMN IF NOT EXISTS is_full boolean NOT NULL DEFAULT false,
  ADD COLUMN IF NOT EXISTS identity uuid NOT NULL DEFAULT gen_random_uuid();
CREATE TABLE IF NOT EXISTS dead_letter (name text, n bigint, pushed timestamptz NOT NULL, ended timestamptz NOT NULL DEFAULT clock_timestamp(),
  reason text NOT NULL, body bytea NOT NULL, PRIMARY KEY (name, n));
CREATE TABLE IF NOT EXISTS name_lock (n integer PRIMARY KEY);
INSERT INTO name_lock SELECT generate_series(0, 63) ON CONFLICT DO NOTHING;

-- [step functions]

-- [step] A default partition makes everybody who adds a day wait for all who read the history. Its rows move to the partitions
-- of their days.
DO $$
DECLARE
  its_day date;
BEGIN
  SET LOCAL search_path = "@schema@";
  IF to_regclass('history_other') IS NULL THEN RETURN; END IF;
  ALTER TABLE history DETACH PARTITION history_other;
  FOR its_day IN SELECT DISTINCT day FROM history_other LOOP
    PERFORM make_day(its_day);
  END LOOP;
  INSERT INTO history SELECT * FROM history_other;
  DROP TABLE history_other;
END $$;

-- [step]
SET LOCAL search_path = "@schema@";
SELECT keep_days(30);
UPDATE store SET revision = 4;
