-- A user with CREATEROLE that creates a role is not its member (PostgreSQL 15), or is one that may not take it (since 16), so
-- `pv-onboarding psql` was refused. The owner of the schema now grants itself the role, where it may. Nobody else does: a superuser that calls
-- the function for a role that several deployments share would give each of them the views of the others.
CREATE OR REPLACE FUNCTION admin.grant_reader(reader name DEFAULT 'pv_onboarding_reader') RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  schema_owner name := (SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = 'admin');
  database_owner oid := (SELECT datdba FROM pg_database WHERE datname = current_database());
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = reader) THEN
    BEGIN
      EXECUTE format('CREATE ROLE %I NOLOGIN', reader);
      EXECUTE format('COMMENT ON ROLE %I IS %L', reader,
                     'Reads the views of the schema admin of PV Onboarding and nothing else. Made a member of by admin.add_reader.');
    EXCEPTION
      WHEN duplicate_object OR unique_violation THEN
        NULL; -- Another database of this server was a moment faster; unique_violation is what the loser of the race gets.
      WHEN insufficient_privilege THEN
        RAISE WARNING 'the role % does not exist and % may not create it: administrators cannot read the views of the schema admin yet',
          reader, current_user
          USING HINT = format('Run as a role that may: CREATE ROLE %I NOLOGIN; and then as %I, in the database %I: SELECT admin.grant_reader(%L);',
                              reader, schema_owner, current_database(), reader);
        RETURN;
    END;
  END IF;

  EXECUTE format('GRANT USAGE ON SCHEMA admin TO %I', reader);
  EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA admin TO %I', reader);
  EXECUTE format('ALTER DEFAULT PRIVILEGES FOR ROLE %I IN SCHEMA admin GRANT SELECT ON TABLES TO %I', schema_owner, reader);

  -- What PUBLIC has by default would let a reader write: temporary tables, and before PostgreSQL 15 tables in public.
  -- CONNECT stays as it is, for whoever else it may serve.
  IF pg_has_role(database_owner, 'USAGE') THEN
    EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), reader);
    IF has_schema_privilege('public', 'public', 'CREATE') THEN
      REVOKE CREATE ON SCHEMA public FROM PUBLIC;
    END IF;
  END IF;

  -- set_option is new in PostgreSQL 16; before, each member may take the role.
  IF current_user = schema_owner
     AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
     AND NOT EXISTS (SELECT FROM pg_auth_members AS m
                      WHERE m.roleid::regrole::text = quote_ident(reader) AND m.member::regrole::text = quote_ident(current_user)
                        AND to_jsonb(m)->>'set_option' IS DISTINCT FROM 'false') THEN
    BEGIN
      EXECUTE format('GRANT %I TO %I', reader, current_user);
    EXCEPTION
      WHEN insufficient_privilege THEN
        NULL; -- `pv-onboarding psql` names the statement for an administrator.
    END;
  END IF;
END $$;

-- For the role that the migrations before have created. One that an administrator has revoked stays revoked.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pv_onboarding_reader')
     AND has_schema_privilege('pv_onboarding_reader', 'admin', 'USAGE') THEN
    PERFORM admin.grant_reader();
  END IF;
END $$;
