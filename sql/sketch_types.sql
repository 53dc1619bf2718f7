-- The types of sketches and of balls about them. Bodies of their input and output: src/pg/functions/sketch_types.rs; they
-- compare as their bytes do, by the server's own functions.

CREATE TYPE minhash_sketch;

CREATE FUNCTION minhash_sketch_in(cstring) RETURNS minhash_sketch
    AS 'MODULE_PATHNAME', 'neardup_minhash_sketch_in'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_sketch_in(cstring) IS 'reads a minhash_sketch from text';

CREATE FUNCTION minhash_sketch_out(minhash_sketch) RETURNS cstring
    AS 'MODULE_PATHNAME', 'neardup_minhash_sketch_out'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_sketch_out(minhash_sketch) IS 'a minhash_sketch as text';

CREATE FUNCTION minhash_sketch_recv(internal) RETURNS minhash_sketch
    AS 'MODULE_PATHNAME', 'neardup_minhash_sketch_recv'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_sketch_recv(internal) IS 'reads a minhash_sketch in binary form';

CREATE FUNCTION minhash_sketch_send(minhash_sketch) RETURNS bytea
    AS 'byteasend'
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_sketch_send(minhash_sketch) IS 'a minhash_sketch in binary form';

-- Hashes do not compress: where a row is long they go out of line as they are.
CREATE TYPE minhash_sketch (
    INPUT = minhash_sketch_in,
    OUTPUT = minhash_sketch_out,
    RECEIVE = minhash_sketch_recv,
    SEND = minhash_sketch_send,
    INTERNALLENGTH = VARIABLE,
    ALIGNMENT = int4,
    STORAGE = external
);
COMMENT ON TYPE minhash_sketch IS 'what minhash() makes: the least hashes of a document''s shingles';

CREATE FUNCTION minhash_sketch_eq(a minhash_sketch, b minhash_sketch) RETURNS bool
    AS 'byteaeq'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION minhash_sketch_eq(minhash_sketch, minhash_sketch) IS 'implementation of the = operator';

CREATE FUNCTION minhash_sketch_ne(a minhash_sketch, b minhash_sketch) RETURNS bool
    AS 'byteane'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION minhash_sketch_ne(minhash_sketch, minhash_sketch) IS 'implementation of the <> operator';

CREATE FUNCTION minhash_sketch_lt(a minhash_sketch, b minhash_sketch) RETURNS bool
    AS 'bytealt'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION minhash_sketch_lt(minhash_sketch, minhash_sketch) IS 'implementation of the < operator';

CREATE FUNCTION minhash_sketch_le(a minhash_sketch, b minhash_sketch) RETURNS bool
    AS 'byteale'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION minhash_sketch_le(minhash_sketch, minhash_sketch) IS 'implementation of the <= operator';

CREATE FUNCTION minhash_sketch_gt(a minhash_sketch, b minhash_sketch) RETURNS bool
    AS 'byteagt'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION minhash_sketch_gt(minhash_sketch, minhash_sketch) IS 'implementation of the > operator';

CREATE FUNCTION minhash_sketch_ge(a minhash_sketch, b minhash_sketch) RETURNS bool
    AS 'byteage'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION minhash_sketch_ge(minhash_sketch, minhash_sketch) IS 'implementation of the >= operator';

CREATE FUNCTION minhash_sketch_cmp(a minhash_sketch, b minhash_sketch) RETURNS int
    AS 'byteacmp'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION minhash_sketch_cmp(minhash_sketch, minhash_sketch) IS 'compares bytes: less than, equal to or greater than 0';

CREATE FUNCTION minhash_sketch_hash(a minhash_sketch) RETURNS int
    AS 'hashvarlena'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION minhash_sketch_hash(minhash_sketch) IS 'hash for joins and groups';

CREATE FUNCTION minhash_sketch_hash_extended(a minhash_sketch, salt bigint) RETURNS bigint
    AS 'hashvarlenaextended'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION minhash_sketch_hash_extended(minhash_sketch, bigint) IS '64-bit hash with a salt';

CREATE OPERATOR = (
    LEFTARG = minhash_sketch,
    RIGHTARG = minhash_sketch,
    FUNCTION = minhash_sketch_eq,
    COMMUTATOR = =,
    NEGATOR = <>,
    RESTRICT = eqsel,
    JOIN = eqjoinsel,
    HASHES,
    MERGES
);
COMMENT ON OPERATOR = (minhash_sketch, minhash_sketch) IS 'same bytes: made in the same way of equal values';

CREATE OPERATOR <> (
    LEFTARG = minhash_sketch,
    RIGHTARG = minhash_sketch,
    FUNCTION = minhash_sketch_ne,
    COMMUTATOR = <>,
    NEGATOR = =,
    RESTRICT = neqsel,
    JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (minhash_sketch, minhash_sketch) IS 'not the same bytes';

CREATE OPERATOR < (
    LEFTARG = minhash_sketch,
    RIGHTARG = minhash_sketch,
    FUNCTION = minhash_sketch_lt,
    COMMUTATOR = >,
    NEGATOR = >=,
    RESTRICT = scalarltsel,
    JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (minhash_sketch, minhash_sketch) IS 'first by bytes, in an order that only serves to sort';

CREATE OPERATOR <= (
    LEFTARG = minhash_sketch,
    RIGHTARG = minhash_sketch,
    FUNCTION = minhash_sketch_le,
    COMMUTATOR = >=,
    NEGATOR = >,
    RESTRICT = scalarlesel,
    JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (minhash_sketch, minhash_sketch) IS 'first by bytes or the same';

CREATE OPERATOR > (
    LEFTARG = minhash_sketch,
    RIGHTARG = minhash_sketch,
    FUNCTION = minhash_sketch_gt,
    COMMUTATOR = <,
    NEGATOR = <=,
    RESTRICT = scalargtsel,
    JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (minhash_sketch, minhash_sketch) IS 'last by bytes';

CREATE OPERATOR >= (
    LEFTARG = minhash_sketch,
    RIGHTARG = minhash_sketch,
    FUNCTION = minhash_sketch_ge,
    COMMUTATOR = <=,
    NEGATOR = <,
    RESTRICT = scalargesel,
    JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (minhash_sketch, minhash_sketch) IS 'last by bytes or the same';

CREATE OPERATOR CLASS minhash_sketch_ops DEFAULT FOR TYPE minhash_sketch USING btree AS
    OPERATOR 1 <,
    OPERATOR 2 <=,
    OPERATOR 3 =,
    OPERATOR 4 >=,
    OPERATOR 5 >,
    FUNCTION 1 minhash_sketch_cmp(minhash_sketch, minhash_sketch),
    FUNCTION 2 bytea_sortsupport(internal);
COMMENT ON OPERATOR CLASS minhash_sketch_ops USING btree IS 'order of bytes';
COMMENT ON OPERATOR FAMILY minhash_sketch_ops USING btree IS 'order of bytes';

CREATE OPERATOR CLASS minhash_sketch_ops DEFAULT FOR TYPE minhash_sketch USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 minhash_sketch_hash(minhash_sketch),
    FUNCTION 2 minhash_sketch_hash_extended(minhash_sketch, bigint);
COMMENT ON OPERATOR CLASS minhash_sketch_ops USING hash IS 'equality of bytes';
COMMENT ON OPERATOR FAMILY minhash_sketch_ops USING hash IS 'equality of bytes';

CREATE TYPE simhash_sketch;

CREATE FUNCTION simhash_sketch_in(cstring) RETURNS simhash_sketch
    AS 'MODULE_PATHNAME', 'neardup_simhash_sketch_in'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_sketch_in(cstring) IS 'reads a simhash_sketch from text';

CREATE FUNCTION simhash_sketch_out(simhash_sketch) RETURNS cstring
    AS 'MODULE_PATHNAME', 'neardup_simhash_sketch_out'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_sketch_out(simhash_sketch) IS 'a simhash_sketch as text';

CREATE FUNCTION simhash_sketch_recv(internal) RETURNS simhash_sketch
    AS 'MODULE_PATHNAME', 'neardup_simhash_sketch_recv'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_sketch_recv(internal) IS 'reads a simhash_sketch in binary form';

CREATE FUNCTION simhash_sketch_send(simhash_sketch) RETURNS bytea
    AS 'byteasend'
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_sketch_send(simhash_sketch) IS 'a simhash_sketch in binary form';

-- Hashes do not compress: where a row is long they go out of line as they are.
CREATE TYPE simhash_sketch (
    INPUT = simhash_sketch_in,
    OUTPUT = simhash_sketch_out,
    RECEIVE = simhash_sketch_recv,
    SEND = simhash_sketch_send,
    INTERNALLENGTH = VARIABLE,
    ALIGNMENT = int4,
    STORAGE = external
);
COMMENT ON TYPE simhash_sketch IS 'what simhash() makes: bits that are alike for documents alike';

CREATE FUNCTION simhash_sketch_eq(a simhash_sketch, b simhash_sketch) RETURNS bool
    AS 'byteaeq'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_sketch_eq(simhash_sketch, simhash_sketch) IS 'implementation of the = operator';

CREATE FUNCTION simhash_sketch_ne(a simhash_sketch, b simhash_sketch) RETURNS bool
    AS 'byteane'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_sketch_ne(simhash_sketch, simhash_sketch) IS 'implementation of the <> operator';

CREATE FUNCTION simhash_sketch_lt(a simhash_sketch, b simhash_sketch) RETURNS bool
    AS 'bytealt'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_sketch_lt(simhash_sketch, simhash_sketch) IS 'implementation of the < operator';

CREATE FUNCTION simhash_sketch_le(a simhash_sketch, b simhash_sketch) RETURNS bool
    AS 'byteale'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_sketch_le(simhash_sketch, simhash_sketch) IS 'implementation of the <= operator';

CREATE FUNCTION simhash_sketch_gt(a simhash_sketch, b simhash_sketch) RETURNS bool
    AS 'byteagt'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_sketch_gt(simhash_sketch, simhash_sketch) IS 'implementation of the > operator';

CREATE FUNCTION simhash_sketch_ge(a simhash_sketch, b simhash_sketch) RETURNS bool
    AS 'byteage'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_sketch_ge(simhash_sketch, simhash_sketch) IS 'implementation of the >= operator';

CREATE FUNCTION simhash_sketch_cmp(a simhash_sketch, b simhash_sketch) RETURNS int
    AS 'byteacmp'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_sketch_cmp(simhash_sketch, simhash_sketch) IS 'compares bytes: less than, equal to or greater than 0';

CREATE FUNCTION simhash_sketch_hash(a simhash_sketch) RETURNS int
    AS 'hashvarlena'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_sketch_hash(simhash_sketch) IS 'hash for joins and groups';

CREATE FUNCTION simhash_sketch_hash_extended(a simhash_sketch, salt bigint) RETURNS bigint
    AS 'hashvarlenaextended'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_sketch_hash_extended(simhash_sketch, bigint) IS '64-bit hash with a salt';

CREATE OPERATOR = (
    LEFTARG = simhash_sketch,
    RIGHTARG = simhash_sketch,
    FUNCTION = simhash_sketch_eq,
    COMMUTATOR = =,
    NEGATOR = <>,
    RESTRICT = eqsel,
    JOIN = eqjoinsel,
    HASHES,
    MERGES
);
COMMENT ON OPERATOR = (simhash_sketch, simhash_sketch) IS 'same bytes: made in the same way of equal values';

CREATE OPERATOR <> (
    LEFTARG = simhash_sketch,
    RIGHTARG = simhash_sketch,
    FUNCTION = simhash_sketch_ne,
    COMMUTATOR = <>,
    NEGATOR = =,
    RESTRICT = neqsel,
    JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (simhash_sketch, simhash_sketch) IS 'not the same bytes';

CREATE OPERATOR < (
    LEFTARG = simhash_sketch,
    RIGHTARG = simhash_sketch,
    FUNCTION = simhash_sketch_lt,
    COMMUTATOR = >,
    NEGATOR = >=,
    RESTRICT = scalarltsel,
    JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (simhash_sketch, simhash_sketch) IS 'first by bytes, in an order that only serves to sort';

CREATE OPERATOR <= (
    LEFTARG = simhash_sketch,
    RIGHTARG = simhash_sketch,
    FUNCTION = simhash_sketch_le,
    COMMUTATOR = >=,
    NEGATOR = >,
    RESTRICT = scalarlesel,
    JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (simhash_sketch, simhash_sketch) IS 'first by bytes or the same';

CREATE OPERATOR > (
    LEFTARG = simhash_sketch,
    RIGHTARG = simhash_sketch,
    FUNCTION = simhash_sketch_gt,
    COMMUTATOR = <,
    NEGATOR = <=,
    RESTRICT = scalargtsel,
    JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (simhash_sketch, simhash_sketch) IS 'last by bytes';

CREATE OPERATOR >= (
    LEFTARG = simhash_sketch,
    RIGHTARG = simhash_sketch,
    FUNCTION = simhash_sketch_ge,
    COMMUTATOR = <=,
    NEGATOR = <,
    RESTRICT = scalargesel,
    JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (simhash_sketch, simhash_sketch) IS 'last by bytes or the same';

CREATE OPERATOR CLASS simhash_sketch_ops DEFAULT FOR TYPE simhash_sketch USING btree AS
    OPERATOR 1 <,
    OPERATOR 2 <=,
    OPERATOR 3 =,
    OPERATOR 4 >=,
    OPERATOR 5 >,
    FUNCTION 1 simhash_sketch_cmp(simhash_sketch, simhash_sketch),
    FUNCTION 2 bytea_sortsupport(internal);
COMMENT ON OPERATOR CLASS simhash_sketch_ops USING btree IS 'order of bytes';
COMMENT ON OPERATOR FAMILY simhash_sketch_ops USING btree IS 'order of bytes';

CREATE OPERATOR CLASS simhash_sketch_ops DEFAULT FOR TYPE simhash_sketch USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 simhash_sketch_hash(simhash_sketch),
    FUNCTION 2 simhash_sketch_hash_extended(simhash_sketch, bigint);
COMMENT ON OPERATOR CLASS simhash_sketch_ops USING hash IS 'equality of bytes';
COMMENT ON OPERATOR FAMILY simhash_sketch_ops USING hash IS 'equality of bytes';

CREATE TYPE minhash_ball;

CREATE FUNCTION minhash_ball_in(cstring) RETURNS minhash_ball
    AS 'MODULE_PATHNAME', 'neardup_minhash_ball_in'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_in(cstring) IS 'reads a minhash_ball from text';

CREATE FUNCTION minhash_ball_out(minhash_ball) RETURNS cstring
    AS 'MODULE_PATHNAME', 'neardup_minhash_ball_out'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_out(minhash_ball) IS 'a minhash_ball as text';

CREATE FUNCTION minhash_ball_recv(internal) RETURNS minhash_ball
    AS 'MODULE_PATHNAME', 'neardup_minhash_ball_recv'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_recv(internal) IS 'reads a minhash_ball in binary form';

CREATE FUNCTION minhash_ball_send(minhash_ball) RETURNS bytea
    AS 'byteasend'
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_send(minhash_ball) IS 'a minhash_ball in binary form';

-- Hashes do not compress: where a row is long they go out of line as they are.
CREATE TYPE minhash_ball (
    INPUT = minhash_ball_in,
    OUTPUT = minhash_ball_out,
    RECEIVE = minhash_ball_recv,
    SEND = minhash_ball_send,
    INTERNALLENGTH = VARIABLE,
    ALIGNMENT = int4,
    STORAGE = external
);
COMMENT ON TYPE minhash_ball IS 'all minhash sketches at least so similar to one; made by near()';

CREATE FUNCTION minhash_ball_eq(a minhash_ball, b minhash_ball) RETURNS bool
    AS 'byteaeq'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_eq(minhash_ball, minhash_ball) IS 'implementation of the = operator';

CREATE FUNCTION minhash_ball_ne(a minhash_ball, b minhash_ball) RETURNS bool
    AS 'byteane'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_ne(minhash_ball, minhash_ball) IS 'implementation of the <> operator';

CREATE FUNCTION minhash_ball_lt(a minhash_ball, b minhash_ball) RETURNS bool
    AS 'bytealt'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_lt(minhash_ball, minhash_ball) IS 'implementation of the < operator';

CREATE FUNCTION minhash_ball_le(a minhash_ball, b minhash_ball) RETURNS bool
    AS 'byteale'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_le(minhash_ball, minhash_ball) IS 'implementation of the <= operator';

CREATE FUNCTION minhash_ball_gt(a minhash_ball, b minhash_ball) RETURNS bool
    AS 'byteagt'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_gt(minhash_ball, minhash_ball) IS 'implementation of the > operator';

CREATE FUNCTION minhash_ball_ge(a minhash_ball, b minhash_ball) RETURNS bool
    AS 'byteage'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_ge(minhash_ball, minhash_ball) IS 'implementation of the >= operator';

CREATE FUNCTION minhash_ball_cmp(a minhash_ball, b minhash_ball) RETURNS int
    AS 'byteacmp'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_cmp(minhash_ball, minhash_ball) IS 'compares bytes: less than, equal to or greater than 0';

CREATE FUNCTION minhash_ball_hash(a minhash_ball) RETURNS int
    AS 'hashvarlena'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_hash(minhash_ball) IS 'hash for joins and groups';

CREATE FUNCTION minhash_ball_hash_extended(a minhash_ball, salt bigint) RETURNS bigint
    AS 'hashvarlenaextended'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_hash_extended(minhash_ball, bigint) IS '64-bit hash with a salt';

CREATE OPERATOR = (
    LEFTARG = minhash_ball,
    RIGHTARG = minhash_ball,
    FUNCTION = minhash_ball_eq,
    COMMUTATOR = =,
    NEGATOR = <>,
    RESTRICT = eqsel,
    JOIN = eqjoinsel,
    HASHES,
    MERGES
);
COMMENT ON OPERATOR = (minhash_ball, minhash_ball) IS 'same bytes: made in the same way of equal values';

CREATE OPERATOR <> (
    LEFTARG = minhash_ball,
    RIGHTARG = minhash_ball,
    FUNCTION = minhash_ball_ne,
    COMMUTATOR = <>,
    NEGATOR = =,
    RESTRICT = neqsel,
    JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (minhash_ball, minhash_ball) IS 'not the same bytes';

CREATE OPERATOR < (
    LEFTARG = minhash_ball,
    RIGHTARG = minhash_ball,
    FUNCTION = minhash_ball_lt,
    COMMUTATOR = >,
    NEGATOR = >=,
    RESTRICT = scalarltsel,
    JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (minhash_ball, minhash_ball) IS 'first by bytes, in an order that only serves to sort';

CREATE OPERATOR <= (
    LEFTARG = minhash_ball,
    RIGHTARG = minhash_ball,
    FUNCTION = minhash_ball_le,
    COMMUTATOR = >=,
    NEGATOR = >,
    RESTRICT = scalarlesel,
    JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (minhash_ball, minhash_ball) IS 'first by bytes or the same';

CREATE OPERATOR > (
    LEFTARG = minhash_ball,
    RIGHTARG = minhash_ball,
    FUNCTION = minhash_ball_gt,
    COMMUTATOR = <,
    NEGATOR = <=,
    RESTRICT = scalargtsel,
    JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (minhash_ball, minhash_ball) IS 'last by bytes';

CREATE OPERATOR >= (
    LEFTARG = minhash_ball,
    RIGHTARG = minhash_ball,
    FUNCTION = minhash_ball_ge,
    COMMUTATOR = <=,
    NEGATOR = <,
    RESTRICT = scalargesel,
    JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (minhash_ball, minhash_ball) IS 'last by bytes or the same';

CREATE OPERATOR CLASS minhash_ball_ops DEFAULT FOR TYPE minhash_ball USING btree AS
    OPERATOR 1 <,
    OPERATOR 2 <=,
    OPERATOR 3 =,
    OPERATOR 4 >=,
    OPERATOR 5 >,
    FUNCTION 1 minhash_ball_cmp(minhash_ball, minhash_ball),
    FUNCTION 2 bytea_sortsupport(internal);
COMMENT ON OPERATOR CLASS minhash_ball_ops USING btree IS 'order of bytes';
COMMENT ON OPERATOR FAMILY minhash_ball_ops USING btree IS 'order of bytes';

CREATE OPERATOR CLASS minhash_ball_ops DEFAULT FOR TYPE minhash_ball USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 minhash_ball_hash(minhash_ball),
    FUNCTION 2 minhash_ball_hash_extended(minhash_ball, bigint);
COMMENT ON OPERATOR CLASS minhash_ball_ops USING hash IS 'equality of bytes';
COMMENT ON OPERATOR FAMILY minhash_ball_ops USING hash IS 'equality of bytes';

CREATE TYPE simhash_ball;

CREATE FUNCTION simhash_ball_in(cstring) RETURNS simhash_ball
    AS 'MODULE_PATHNAME', 'neardup_simhash_ball_in'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_in(cstring) IS 'reads a simhash_ball from text';

CREATE FUNCTION simhash_ball_out(simhash_ball) RETURNS cstring
    AS 'MODULE_PATHNAME', 'neardup_simhash_ball_out'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_out(simhash_ball) IS 'a simhash_ball as text';

CREATE FUNCTION simhash_ball_recv(internal) RETURNS simhash_ball
    AS 'MODULE_PATHNAME', 'neardup_simhash_ball_recv'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_recv(internal) IS 'reads a simhash_ball in binary form';

CREATE FUNCTION simhash_ball_send(simhash_ball) RETURNS bytea
    AS 'byteasend'
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_send(simhash_ball) IS 'a simhash_ball in binary form';

-- Hashes do not compress: where a row is long they go out of line as they are.
CREATE TYPE simhash_ball (
    INPUT = simhash_ball_in,
    OUTPUT = simhash_ball_out,
    RECEIVE = simhash_ball_recv,
    SEND = simhash_ball_send,
    INTERNALLENGTH = VARIABLE,
    ALIGNMENT = int4,
    STORAGE = external
);
COMMENT ON TYPE simhash_ball IS 'all simhash sketches at most so many bits from one; made by near()';

CREATE FUNCTION simhash_ball_eq(a simhash_ball, b simhash_ball) RETURNS bool
    AS 'byteaeq'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_eq(simhash_ball, simhash_ball) IS 'implementation of the = operator';

CREATE FUNCTION simhash_ball_ne(a simhash_ball, b simhash_ball) RETURNS bool
    AS 'byteane'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_ne(simhash_ball, simhash_ball) IS 'implementation of the <> operator';

CREATE FUNCTION simhash_ball_lt(a simhash_ball, b simhash_ball) RETURNS bool
    AS 'bytealt'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_lt(simhash_ball, simhash_ball) IS 'implementation of the < operator';

CREATE FUNCTION simhash_ball_le(a simhash_ball, b simhash_ball) RETURNS bool
    AS 'byteale'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_le(simhash_ball, simhash_ball) IS 'implementation of the <= operator';

CREATE FUNCTION simhash_ball_gt(a simhash_ball, b simhash_ball) RETURNS bool
    AS 'byteagt'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_gt(simhash_ball, simhash_ball) IS 'implementation of the > operator';

CREATE FUNCTION simhash_ball_ge(a simhash_ball, b simhash_ball) RETURNS bool
    AS 'byteage'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_ge(simhash_ball, simhash_ball) IS 'implementation of the >= operator';

CREATE FUNCTION simhash_ball_cmp(a simhash_ball, b simhash_ball) RETURNS int
    AS 'byteacmp'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_cmp(simhash_ball, simhash_ball) IS 'compares bytes: less than, equal to or greater than 0';

CREATE FUNCTION simhash_ball_hash(a simhash_ball) RETURNS int
    AS 'hashvarlena'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_hash(simhash_ball) IS 'hash for joins and groups';

CREATE FUNCTION simhash_ball_hash_extended(a simhash_ball, salt bigint) RETURNS bigint
    AS 'hashvarlenaextended'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_hash_extended(simhash_ball, bigint) IS '64-bit hash with a salt';

CREATE OPERATOR = (
    LEFTARG = simhash_ball,
    RIGHTARG = simhash_ball,
    FUNCTION = simhash_ball_eq,
    COMMUTATOR = =,
    NEGATOR = <>,
    RESTRICT = eqsel,
    JOIN = eqjoinsel,
    HASHES,
    MERGES
);
COMMENT ON OPERATOR = (simhash_ball, simhash_ball) IS 'same bytes: made in the same way of equal values';

CREATE OPERATOR <> (
    LEFTARG = simhash_ball,
    RIGHTARG = simhash_ball,
    FUNCTION = simhash_ball_ne,
    COMMUTATOR = <>,
    NEGATOR = =,
    RESTRICT = neqsel,
    JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (simhash_ball, simhash_ball) IS 'not the same bytes';

CREATE OPERATOR < (
    LEFTARG = simhash_ball,
    RIGHTARG = simhash_ball,
    FUNCTION = simhash_ball_lt,
    COMMUTATOR = >,
    NEGATOR = >=,
    RESTRICT = scalarltsel,
    JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (simhash_ball, simhash_ball) IS 'first by bytes, in an order that only serves to sort';

CREATE OPERATOR <= (
    LEFTARG = simhash_ball,
    RIGHTARG = simhash_ball,
    FUNCTION = simhash_ball_le,
    COMMUTATOR = >=,
    NEGATOR = >,
    RESTRICT = scalarlesel,
    JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (simhash_ball, simhash_ball) IS 'first by bytes or the same';

CREATE OPERATOR > (
    LEFTARG = simhash_ball,
    RIGHTARG = simhash_ball,
    FUNCTION = simhash_ball_gt,
    COMMUTATOR = <,
    NEGATOR = <=,
    RESTRICT = scalargtsel,
    JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (simhash_ball, simhash_ball) IS 'last by bytes';

CREATE OPERATOR >= (
    LEFTARG = simhash_ball,
    RIGHTARG = simhash_ball,
    FUNCTION = simhash_ball_ge,
    COMMUTATOR = <=,
    NEGATOR = <,
    RESTRICT = scalargesel,
    JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (simhash_ball, simhash_ball) IS 'last by bytes or the same';

CREATE OPERATOR CLASS simhash_ball_ops DEFAULT FOR TYPE simhash_ball USING btree AS
    OPERATOR 1 <,
    OPERATOR 2 <=,
    OPERATOR 3 =,
    OPERATOR 4 >=,
    OPERATOR 5 >,
    FUNCTION 1 simhash_ball_cmp(simhash_ball, simhash_ball),
    FUNCTION 2 bytea_sortsupport(internal);
COMMENT ON OPERATOR CLASS simhash_ball_ops USING btree IS 'order of bytes';
COMMENT ON OPERATOR FAMILY simhash_ball_ops USING btree IS 'order of bytes';

CREATE OPERATOR CLASS simhash_ball_ops DEFAULT FOR TYPE simhash_ball USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 simhash_ball_hash(simhash_ball),
    FUNCTION 2 simhash_ball_hash_extended(simhash_ball, bigint);
COMMENT ON OPERATOR CLASS simhash_ball_ops USING hash IS 'equality of bytes';
COMMENT ON OPERATOR FAMILY simhash_ball_ops USING hash IS 'equality of bytes';

CREATE TYPE text_ball;

CREATE FUNCTION text_ball_in(cstring) RETURNS text_ball
    AS 'MODULE_PATHNAME', 'neardup_text_ball_in'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION text_ball_in(cstring) IS 'reads a text_ball from text';

CREATE FUNCTION text_ball_out(text_ball) RETURNS cstring
    AS 'MODULE_PATHNAME', 'neardup_text_ball_out'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION text_ball_out(text_ball) IS 'a text_ball as text';

CREATE FUNCTION text_ball_recv(internal) RETURNS text_ball
    AS 'MODULE_PATHNAME', 'neardup_text_ball_recv'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION text_ball_recv(internal) IS 'reads a text_ball in binary form';

CREATE FUNCTION text_ball_send(text_ball) RETURNS bytea
    AS 'byteasend'
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION text_ball_send(text_ball) IS 'a text_ball in binary form';

-- Hashes do not compress: where a row is long they go out of line as they are.
CREATE TYPE text_ball (
    INPUT = text_ball_in,
    OUTPUT = text_ball_out,
    RECEIVE = text_ball_recv,
    SEND = text_ball_send,
    INTERNALLENGTH = VARIABLE,
    ALIGNMENT = int4,
    STORAGE = external
);
COMMENT ON TYPE text_ball IS 'all texts whose minhash sketches are at least so similar to that of one; made by near()';

CREATE FUNCTION text_ball_eq(a text_ball, b text_ball) RETURNS bool
    AS 'byteaeq'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION text_ball_eq(text_ball, text_ball) IS 'implementation of the = operator';

CREATE FUNCTION text_ball_ne(a text_ball, b text_ball) RETURNS bool
    AS 'byteane'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION text_ball_ne(text_ball, text_ball) IS 'implementation of the <> operator';

CREATE FUNCTION text_ball_lt(a text_ball, b text_ball) RETURNS bool
    AS 'bytealt'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION text_ball_lt(text_ball, text_ball) IS 'implementation of the < operator';

CREATE FUNCTION text_ball_le(a text_ball, b text_ball) RETURNS bool
    AS 'byteale'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION text_ball_le(text_ball, text_ball) IS 'implementation of the <= operator';

CREATE FUNCTION text_ball_gt(a text_ball, b text_ball) RETURNS bool
    AS 'byteagt'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION text_ball_gt(text_ball, text_ball) IS 'implementation of the > operator';

CREATE FUNCTION text_ball_ge(a text_ball, b text_ball) RETURNS bool
    AS 'byteage'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION text_ball_ge(text_ball, text_ball) IS 'implementation of the >= operator';

CREATE FUNCTION text_ball_cmp(a text_ball, b text_ball) RETURNS int
    AS 'byteacmp'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION text_ball_cmp(text_ball, text_ball) IS 'compares bytes: less than, equal to or greater than 0';

CREATE FUNCTION text_ball_hash(a text_ball) RETURNS int
    AS 'hashvarlena'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION text_ball_hash(text_ball) IS 'hash for joins and groups';

CREATE FUNCTION text_ball_hash_extended(a text_ball, salt bigint) RETURNS bigint
    AS 'hashvarlenaextended'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION text_ball_hash_extended(text_ball, bigint) IS '64-bit hash with a salt';

CREATE OPERATOR = (
    LEFTARG = text_ball,
    RIGHTARG = text_ball,
    FUNCTION = text_ball_eq,
    COMMUTATOR = =,
    NEGATOR = <>,
    RESTRICT = eqsel,
    JOIN = eqjoinsel,
    HASHES,
    MERGES
);
COMMENT ON OPERATOR = (text_ball, text_ball) IS 'same bytes: made in the same way of equal values';

CREATE OPERATOR <> (
    LEFTARG = text_ball,
    RIGHTARG = text_ball,
    FUNCTION = text_ball_ne,
    COMMUTATOR = <>,
    NEGATOR = =,
    RESTRICT = neqsel,
    JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (text_ball, text_ball) IS 'not the same bytes';

CREATE OPERATOR < (
    LEFTARG = text_ball,
    RIGHTARG = text_ball,
    FUNCTION = text_ball_lt,
    COMMUTATOR = >,
    NEGATOR = >=,
    RESTRICT = scalarltsel,
    JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (text_ball, text_ball) IS 'first by bytes, in an order that only serves to sort';

CREATE OPERATOR <= (
    LEFTARG = text_ball,
    RIGHTARG = text_ball,
    FUNCTION = text_ball_le,
    COMMUTATOR = >=,
    NEGATOR = >,
    RESTRICT = scalarlesel,
    JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (text_ball, text_ball) IS 'first by bytes or the same';

CREATE OPERATOR > (
    LEFTARG = text_ball,
    RIGHTARG = text_ball,
    FUNCTION = text_ball_gt,
    COMMUTATOR = <,
    NEGATOR = <=,
    RESTRICT = scalargtsel,
    JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (text_ball, text_ball) IS 'last by bytes';

CREATE OPERATOR >= (
    LEFTARG = text_ball,
    RIGHTARG = text_ball,
    FUNCTION = text_ball_ge,
    COMMUTATOR = <=,
    NEGATOR = <,
    RESTRICT = scalargesel,
    JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (text_ball, text_ball) IS 'last by bytes or the same';

CREATE OPERATOR CLASS text_ball_ops DEFAULT FOR TYPE text_ball USING btree AS
    OPERATOR 1 <,
    OPERATOR 2 <=,
    OPERATOR 3 =,
    OPERATOR 4 >=,
    OPERATOR 5 >,
    FUNCTION 1 text_ball_cmp(text_ball, text_ball),
    FUNCTION 2 bytea_sortsupport(internal);
COMMENT ON OPERATOR CLASS text_ball_ops USING btree IS 'order of bytes';
COMMENT ON OPERATOR FAMILY text_ball_ops USING btree IS 'order of bytes';

CREATE OPERATOR CLASS text_ball_ops DEFAULT FOR TYPE text_ball USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 text_ball_hash(text_ball),
    FUNCTION 2 text_ball_hash_extended(text_ball, bigint);
COMMENT ON OPERATOR CLASS text_ball_ops USING hash IS 'equality of bytes';
COMMENT ON OPERATOR FAMILY text_ball_ops USING hash IS 'equality of bytes';
