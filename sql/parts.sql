-- The exact join of sets in parts. Bodies: src/pg/functions/parts.rs.

CREATE FUNCTION prefix_groups(
    set token_set,
    ranks token_ranks,
    method set_measure,
    threshold float8,
    parts int
) RETURNS TABLE(part int, size int, bitmap bytea, prefix bytea)
    AS 'MODULE_PATHNAME', 'neardup_prefix_groups'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 10;
COMMENT ON FUNCTION prefix_groups(token_set, token_ranks, set_measure, float8, int) IS
    'a set of tokens as rows for join_part: one for each part that tokens of its prefix fall into, numbered from 0';

CREATE FUNCTION join_part_step(internal, anyelement, int, bytea, bytea, set_measure, float8) RETURNS internal
    AS 'MODULE_PATHNAME', 'neardup_join_part_step'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION join_part_step(internal, anyelement, int, bytea, bytea, set_measure, float8) IS 'internal: adds a row to a part for join_part';

-- Without a cost: three servers with all groups each would seem more work than one with all, and nothing be sent to them.
CREATE FUNCTION join_part_result(internal, anyelement, int, bytea, bytea, set_measure, float8) RETURNS anyarray
    AS 'MODULE_PATHNAME', 'neardup_join_part_result'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION join_part_result(internal, anyelement, int, bytea, bytea, set_measure, float8) IS 'internal: the result of join_part';

-- So much space for a state makes the server sort the rows of many parts, and have one part at a time in memory.
CREATE AGGREGATE join_part(id anyelement, size int, bitmap bytea, prefix bytea, method set_measure, threshold float8) (
    SFUNC = join_part_step,
    STYPE = internal,
    SSPACE = 67108864,
    FINALFUNC = join_part_result,
    FINALFUNC_EXTRA,
    FINALFUNC_MODIFY = READ_WRITE,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE join_part(anyelement, int, bytea, bytea, set_measure, float8) IS
    'the pairs of a part that may be similar, as ids one after the other: each pair once in a part, the lesser id first';

CREATE FUNCTION candidate_pairs(ids anyarray) RETURNS TABLE(left_id anyelement, right_id anyelement)
    AS 'MODULE_PATHNAME', 'neardup_candidate_pairs'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 1000;
COMMENT ON FUNCTION candidate_pairs(anyarray) IS 'what join_part gives as rows';
