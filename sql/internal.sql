-- What only the server and neardup's own statements call, in a schema that is in no search path. Body: src/pg/functions/internal.rs.

CREATE SCHEMA neardup_internal;
COMMENT ON SCHEMA neardup_internal IS 'functions of neardup that users do not call: they implement types, operators, indexes and jobs';
-- Statements of jobs call some of them as the owner of the watched table.
GRANT USAGE ON SCHEMA neardup_internal TO PUBLIC;

-- The server moves an extension only if all of its objects are in one schema.
CREATE FUNCTION neardup_moves() RETURNS event_trigger
    AS 'MODULE_PATHNAME', 'neardup_moves'
    LANGUAGE c VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION neardup_moves() IS
    'internal: before ALTER EXTENSION neardup SET SCHEMA moves the internal functions to the others, and back afterwards';
CREATE EVENT TRIGGER neardup_moves_before ON ddl_command_start WHEN TAG IN ('ALTER EXTENSION') EXECUTE FUNCTION neardup_moves();
COMMENT ON EVENT TRIGGER neardup_moves_before IS 'ALTER EXTENSION neardup SET SCHEMA: gathers all functions in one schema';
CREATE EVENT TRIGGER neardup_moves_after ON ddl_command_end WHEN TAG IN ('ALTER EXTENSION') EXECUTE FUNCTION neardup_moves();
COMMENT ON EVENT TRIGGER neardup_moves_after IS 'ALTER EXTENSION neardup SET SCHEMA: internal functions out of sight again';

-- Functions of types, operators, casts, indexes and aggregates, and what a comment calls internal.
DO $$
DECLARE
    moved pg_catalog.text;
BEGIN
    FOR moved IN
        SELECT p.oid::pg_catalog.regprocedure::pg_catalog.text
        FROM pg_catalog.pg_extension e
            JOIN pg_catalog.pg_depend d ON d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass::pg_catalog.oid
                AND d.refobjid OPERATOR(pg_catalog.=) e.oid AND d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid
            JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) d.objid
        WHERE e.extname OPERATOR(pg_catalog.=) 'neardup'::pg_catalog.name
            AND (pg_catalog.starts_with(pg_catalog.obj_description(p.oid, 'pg_proc'::pg_catalog.name), 'internal: '::pg_catalog.text)
                OR EXISTS (SELECT FROM pg_catalog.pg_type t WHERE p.oid OPERATOR(pg_catalog.=) ANY (ARRAY[t.typinput, t.typoutput, t.typreceive, t.typsend]::pg_catalog.oid[]))
                OR EXISTS (SELECT FROM pg_catalog.pg_operator o WHERE p.oid OPERATOR(pg_catalog.=) ANY (ARRAY[o.oprcode, o.oprrest, o.oprjoin]::pg_catalog.oid[]))
                OR EXISTS (SELECT FROM pg_catalog.pg_amproc s WHERE s.amproc::pg_catalog.oid OPERATOR(pg_catalog.=) p.oid)
                OR EXISTS (SELECT FROM pg_catalog.pg_am a WHERE a.amhandler::pg_catalog.oid OPERATOR(pg_catalog.=) p.oid)
                OR EXISTS (SELECT FROM pg_catalog.pg_cast c WHERE c.castfunc OPERATOR(pg_catalog.=) p.oid)
                OR EXISTS (SELECT FROM pg_catalog.pg_proc f WHERE f.prosupport::pg_catalog.oid OPERATOR(pg_catalog.=) p.oid))
    LOOP
        EXECUTE pg_catalog.format('ALTER ROUTINE %s SET SCHEMA neardup_internal'::pg_catalog.text, moved);
    END LOOP;
END
$$;
