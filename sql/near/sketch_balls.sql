-- What is near to a sketch: balls, what is in them, and how many rows that may be. Bodies: src/pg/functions/near/sketch_balls.rs.

CREATE FUNCTION near(sketch minhash_sketch, similarity float8) RETURNS minhash_ball
    AS 'MODULE_PATHNAME', 'neardup_near_minhash'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION near(minhash_sketch, float8) IS
    'all minhash sketches at least so similar to this one: WHERE minhash(body) <@ near(...)';

CREATE FUNCTION near(sketch simhash_sketch, distance float8) RETURNS simhash_ball
    AS 'MODULE_PATHNAME', 'neardup_near_simhash'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION near(simhash_sketch, float8) IS
    'all simhash sketches at most so many bits from this one: WHERE simhash(body) <@ near(...)';

CREATE FUNCTION near_selectivity(internal, oid, internal, int) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_near_selectivity'
    LANGUAGE c STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION near_selectivity(internal, oid, internal, int) IS
    'which share of rows is in a ball, by the statistics of the column';

CREATE FUNCTION near_join_selectivity(internal, oid, internal, smallint, internal) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_near_join_selectivity'
    LANGUAGE c STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION near_join_selectivity(internal, oid, internal, smallint, internal) IS
    'which share of pairs of rows is near';

CREATE FUNCTION near_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'neardup_near_support'
    LANGUAGE c STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION near_support(internal) IS
    'tells the planner what a comparison costs, by the lengths of the values';

CREATE FUNCTION minhash_in_ball(value minhash_sketch, ball minhash_ball) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_minhash_in_ball'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION minhash_in_ball(minhash_sketch, minhash_ball) IS
    'whether a value is in a ball';

CREATE FUNCTION minhash_ball_contains(ball minhash_ball, value minhash_sketch) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_minhash_ball_contains'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION minhash_ball_contains(minhash_ball, minhash_sketch) IS
    'whether a ball contains a value';

CREATE OPERATOR <@ (
    LEFTARG = minhash_sketch,
    RIGHTARG = minhash_ball,
    FUNCTION = minhash_in_ball,
    COMMUTATOR = @>,
    RESTRICT = near_selectivity,
    JOIN = near_join_selectivity
);
COMMENT ON OPERATOR <@ (minhash_sketch, minhash_ball) IS 'is in the ball';

CREATE OPERATOR @> (
    LEFTARG = minhash_ball,
    RIGHTARG = minhash_sketch,
    FUNCTION = minhash_ball_contains,
    COMMUTATOR = <@,
    RESTRICT = near_selectivity,
    JOIN = near_join_selectivity
);
COMMENT ON OPERATOR @> (minhash_ball, minhash_sketch) IS 'contains';

CREATE FUNCTION simhash_in_ball(value simhash_sketch, ball simhash_ball) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_simhash_in_ball'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION simhash_in_ball(simhash_sketch, simhash_ball) IS
    'whether a value is in a ball';

CREATE FUNCTION simhash_ball_contains(ball simhash_ball, value simhash_sketch) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_simhash_ball_contains'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION simhash_ball_contains(simhash_ball, simhash_sketch) IS
    'whether a ball contains a value';

CREATE OPERATOR <@ (
    LEFTARG = simhash_sketch,
    RIGHTARG = simhash_ball,
    FUNCTION = simhash_in_ball,
    COMMUTATOR = @>,
    RESTRICT = near_selectivity,
    JOIN = near_join_selectivity
);
COMMENT ON OPERATOR <@ (simhash_sketch, simhash_ball) IS 'is in the ball';

CREATE OPERATOR @> (
    LEFTARG = simhash_ball,
    RIGHTARG = simhash_sketch,
    FUNCTION = simhash_ball_contains,
    COMMUTATOR = <@,
    RESTRICT = near_selectivity,
    JOIN = near_join_selectivity
);
COMMENT ON OPERATOR @> (simhash_ball, simhash_sketch) IS 'contains';
