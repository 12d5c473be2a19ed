-- SPDX-License-Identifier: MIT
--
-- The rights of the roles. Each upgrade grants them again. The two roles may be missing: see roles.sql.

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA "@schema@" FROM public;
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = '@schema@_producer') THEN
    GRANT USAGE ON SCHEMA "@schema@" TO @schema@_producer;
    GRANT EXECUTE ON FUNCTION push, push_as_producer TO @schema@_producer;
    GRANT SELECT ON store TO @schema@_producer;
  END IF;
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = '@schema@_host') THEN
    GRANT USAGE ON SCHEMA "@schema@" TO @schema@_host;
    GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA "@schema@" TO @schema@_host;
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "@schema@" TO @schema@_host;
    REVOKE INSERT, UPDATE, DELETE ON store FROM @schema@_host;
  END IF;
END $$;
