-- The types of sketches and of balls about them, and those of sets of tokens. Bodies of their input and output:
-- src/pg/functions/sketches/sketch_types.rs; they compare as their bytes do, by the server's own functions.

-- All eight have the same declarations, %1$s being the name of the type. Whatever a column can hold has an equality:
-- DISTINCT, IS DISTINCT FROM in a trigger, and REPLICA IDENTITY FULL need one.
DO $$
DECLARE
    name pg_catalog.text;
BEGIN
    FOREACH name IN ARRAY '{minhash_sketch,simhash_sketch,minhash_ball,simhash_ball,text_ball,text_runs}'::pg_catalog.text[] LOOP
        EXECUTE pg_catalog.format($declarations$

        CREATE TYPE %1$s;

        CREATE FUNCTION %1$s_in(cstring) RETURNS %1$s
            AS 'MODULE_PATHNAME', 'neardup_%1$s_in'
            LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
        COMMENT ON FUNCTION %1$s_in(cstring) IS 'reads a %1$s from text';

        CREATE FUNCTION %1$s_out(%1$s) RETURNS cstring
            AS 'MODULE_PATHNAME', 'neardup_%1$s_out'
            LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
        COMMENT ON FUNCTION %1$s_out(%1$s) IS 'a %1$s as text';

        CREATE FUNCTION %1$s_recv(internal) RETURNS %1$s
            AS 'MODULE_PATHNAME', 'neardup_%1$s_recv'
            LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
        COMMENT ON FUNCTION %1$s_recv(internal) IS 'reads a %1$s in binary form';

        CREATE FUNCTION %1$s_send(%1$s) RETURNS bytea
            AS 'byteasend'
            LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
        COMMENT ON FUNCTION %1$s_send(%1$s) IS 'a %1$s in binary form';

        -- Hashes do not compress: where a row is long they go out of line as they are.
        CREATE TYPE %1$s (
            INPUT = %1$s_in,
            OUTPUT = %1$s_out,
            RECEIVE = %1$s_recv,
            SEND = %1$s_send,
            INTERNALLENGTH = VARIABLE,
            ALIGNMENT = int4,
            STORAGE = external
        );

        CREATE FUNCTION %1$s_eq(a %1$s, b %1$s) RETURNS bool
            AS 'byteaeq'
            LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
        COMMENT ON FUNCTION %1$s_eq(%1$s, %1$s) IS 'implementation of the = operator';

        CREATE FUNCTION %1$s_ne(a %1$s, b %1$s) RETURNS bool
            AS 'byteane'
            LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
        COMMENT ON FUNCTION %1$s_ne(%1$s, %1$s) IS 'implementation of the <> operator';

        CREATE FUNCTION %1$s_lt(a %1$s, b %1$s) RETURNS bool
            AS 'bytealt'
            LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
        COMMENT ON FUNCTION %1$s_lt(%1$s, %1$s) IS 'implementation of the < operator';

        CREATE FUNCTION %1$s_le(a %1$s, b %1$s) RETURNS bool
            AS 'byteale'
            LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
        COMMENT ON FUNCTION %1$s_le(%1$s, %1$s) IS 'implementation of the <= operator';

        CREATE FUNCTION %1$s_gt(a %1$s, b %1$s) RETURNS bool
            AS 'byteagt'
            LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
        COMMENT ON FUNCTION %1$s_gt(%1$s, %1$s) IS 'implementation of the > operator';

        CREATE FUNCTION %1$s_ge(a %1$s, b %1$s) RETURNS bool
            AS 'byteage'
            LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
        COMMENT ON FUNCTION %1$s_ge(%1$s, %1$s) IS 'implementation of the >= operator';

        CREATE FUNCTION %1$s_cmp(a %1$s, b %1$s) RETURNS int
            AS 'byteacmp'
            LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
        COMMENT ON FUNCTION %1$s_cmp(%1$s, %1$s) IS 'compares bytes: less than, equal to or greater than 0';

        CREATE FUNCTION %1$s_hash(a %1$s) RETURNS int
            AS 'hashvarlena'
            LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
        COMMENT ON FUNCTION %1$s_hash(%1$s) IS 'hash for joins and groups';

        CREATE FUNCTION %1$s_hash_extended(a %1$s, salt bigint) RETURNS bigint
            AS 'hashvarlenaextended'
            LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
        COMMENT ON FUNCTION %1$s_hash_extended(%1$s, bigint) IS '64-bit hash with a salt';

        CREATE OPERATOR = (
            LEFTARG = %1$s,
            RIGHTARG = %1$s,
            FUNCTION = %1$s_eq,
            COMMUTATOR = =,
            NEGATOR = <>,
            RESTRICT = eqsel,
            JOIN = eqjoinsel,
            HASHES,
            MERGES
        );
        COMMENT ON OPERATOR = (%1$s, %1$s) IS 'same bytes: made in the same way of equal values';

        CREATE OPERATOR <> (
            LEFTARG = %1$s,
            RIGHTARG = %1$s,
            FUNCTION = %1$s_ne,
            COMMUTATOR = <>,
            NEGATOR = =,
            RESTRICT = neqsel,
            JOIN = neqjoinsel
        );
        COMMENT ON OPERATOR <> (%1$s, %1$s) IS 'not the same bytes';

        CREATE OPERATOR < (
            LEFTARG = %1$s,
            RIGHTARG = %1$s,
            FUNCTION = %1$s_lt,
            COMMUTATOR = >,
            NEGATOR = >=,
            RESTRICT = scalarltsel,
            JOIN = scalarltjoinsel
        );
        COMMENT ON OPERATOR < (%1$s, %1$s) IS 'first by bytes, in an order that only serves to sort';

        CREATE OPERATOR <= (
            LEFTARG = %1$s,
            RIGHTARG = %1$s,
            FUNCTION = %1$s_le,
            COMMUTATOR = >=,
            NEGATOR = >,
            RESTRICT = scalarlesel,
            JOIN = scalarlejoinsel
        );
        COMMENT ON OPERATOR <= (%1$s, %1$s) IS 'first by bytes or the same';

        CREATE OPERATOR > (
            LEFTARG = %1$s,
            RIGHTARG = %1$s,
            FUNCTION = %1$s_gt,
            COMMUTATOR = <,
            NEGATOR = <=,
            RESTRICT = scalargtsel,
            JOIN = scalargtjoinsel
        );
        COMMENT ON OPERATOR > (%1$s, %1$s) IS 'last by bytes';

        CREATE OPERATOR >= (
            LEFTARG = %1$s,
            RIGHTARG = %1$s,
            FUNCTION = %1$s_ge,
            COMMUTATOR = <=,
            NEGATOR = <,
            RESTRICT = scalargesel,
            JOIN = scalargejoinsel
        );
        COMMENT ON OPERATOR >= (%1$s, %1$s) IS 'last by bytes or the same';

        CREATE OPERATOR CLASS %1$s_ops DEFAULT FOR TYPE %1$s USING btree AS
            OPERATOR 1 <,
            OPERATOR 2 <=,
            OPERATOR 3 =,
            OPERATOR 4 >=,
            OPERATOR 5 >,
            FUNCTION 1 %1$s_cmp(%1$s, %1$s),
            FUNCTION 2 bytea_sortsupport(internal);
        COMMENT ON OPERATOR CLASS %1$s_ops USING btree IS 'order of bytes';
        COMMENT ON OPERATOR FAMILY %1$s_ops USING btree IS 'order of bytes';

        CREATE OPERATOR CLASS %1$s_ops DEFAULT FOR TYPE %1$s USING hash AS
            OPERATOR 1 =,
            FUNCTION 1 %1$s_hash(%1$s),
            FUNCTION 2 %1$s_hash_extended(%1$s, bigint);
        COMMENT ON OPERATOR CLASS %1$s_ops USING hash IS 'equality of bytes';
        COMMENT ON OPERATOR FAMILY %1$s_ops USING hash IS 'equality of bytes';

        $declarations$::pg_catalog.text, name);
    END LOOP;
END
$$;

COMMENT ON TYPE minhash_sketch IS 'what minhash() makes: the least hashes of a document''s shingles';
COMMENT ON TYPE simhash_sketch IS 'what simhash() makes: bits that are alike for documents alike';
COMMENT ON TYPE minhash_ball IS 'all minhash sketches at least so similar to one; made by near()';
COMMENT ON TYPE simhash_ball IS 'all simhash sketches at most so many bits from one; made by near()';
COMMENT ON TYPE text_ball IS 'all documents at least so similar to one, compared as near_duplicates compares them; made by near()';
COMMENT ON TYPE text_runs IS 'all texts that have a run of tokens in common with one; made by shared_run()';
