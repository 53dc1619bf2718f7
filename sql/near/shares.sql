-- Arrays that share elements. Bodies: src/pg/functions/near/shares.rs.

CREATE FUNCTION shares_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'neardup_shares_support'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shares_support(internal) IS
    'tells the planner that what shares elements overlaps, so that an index on && serves';

CREATE FUNCTION shares(a bigint[], b bigint[], r int DEFAULT 1) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_shares_numbers'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10
    SUPPORT shares_support;
COMMENT ON FUNCTION shares(bigint[], bigint[], int) IS
    'whether two arrays have at least r different elements in common; NULL elements count nothing';

CREATE FUNCTION shares(a uuid[], b uuid[], r int DEFAULT 1) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_shares_uuids'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10
    SUPPORT shares_support;
COMMENT ON FUNCTION shares(uuid[], uuid[], int) IS
    'whether two arrays have at least r different elements in common; NULL elements count nothing';
