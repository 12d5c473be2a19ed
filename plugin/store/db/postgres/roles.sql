-- SPDX-License-Identifier: MIT
--
-- Two roles of the tenant, which are made if the login may make roles: one may only push, the other has the rights of a host. Grant them to logins. A
-- role that may not make roles uses those that an administrator has made before.

DO $$
BEGIN
  IF (SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user) THEN
    CREATE ROLE @schema@_producer;
    CREATE ROLE @schema@_host;
  END IF;
END $$;

INSERT INTO session (session) VALUES (0);
INSERT INTO store (schema, revision) VALUES (4, 4);
SELECT keep_days(30);
