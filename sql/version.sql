-- Which versions work together. Bodies: src/pg/functions/version.rs.

-- Before anything else: a session that loaded the library before it was replaced keeps the old one, and what follows would be
-- declared for it.
DO $$
BEGIN
    EXECUTE $declaration$
        CREATE FUNCTION neardup_check_library() RETURNS void
            AS 'MODULE_PATHNAME', 'neardup_check_library'
            LANGUAGE c VOLATILE PARALLEL UNSAFE;
    $declaration$;
EXCEPTION WHEN undefined_function THEN
    RAISE EXCEPTION USING ERRCODE := 'object_not_in_prerequisite_state',
        MESSAGE := 'the library neardup that this session has loaded is older than its SQL',
        HINT := 'Start a new session; if that does not help, install the library of the same version.';
END
$$;
COMMENT ON FUNCTION neardup_check_library() IS 'internal: an error where the library is older than the script of the extension that runs';
SELECT neardup_check_library();

CREATE FUNCTION neardup_version(
    OUT library text, OUT sql text, OUT text_rules int, OUT hashes int, OUT sketch_format int, OUT index_format int, OUT lists_format int,
    OUT unicode text, OUT instructions text)
    AS 'MODULE_PATHNAME', 'neardup_version'
    LANGUAGE c STABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_version() IS
    'versions of the library and of its SQL definitions in this database, of what is stored, and of Unicode; the instruction set in use';
