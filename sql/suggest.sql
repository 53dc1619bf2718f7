-- A method and a threshold for these documents. Body: src/pg/functions/suggest.rs.

CREATE FUNCTION suggest(
    docs regclass,
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    sample bigint DEFAULT NULL
) RETURNS TABLE(
    using_method text,
    fits boolean,
    threshold float8,
    pairs bigint,
    reason text,
    call text
)
    AS 'MODULE_PATHNAME', 'neardup_suggest'
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 7 COST 10000;
COMMENT ON FUNCTION suggest(regclass, text, text, bigint) IS
    'a method and a threshold for these documents, with reasons, from a sample of them';
