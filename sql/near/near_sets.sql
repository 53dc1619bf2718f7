-- What is near to a document, exactly: balls of texts, tokens, lexemes and numbers, and what is in them. Bodies:
-- src/pg/functions/near/near_sets.rs.

CREATE FUNCTION near(
    text text,
    similarity float8 DEFAULT 0.8,
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL,
    tokenizer text DEFAULT NULL,
    method text DEFAULT 'jaccard',
    direction text DEFAULT 'row',
    normalization text DEFAULT NULL,
    damerau bool DEFAULT false,
    weight text DEFAULT NULL
) RETURNS text_ball
    AS 'MODULE_PATHNAME', 'neardup_near_set_text'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION near(text, float8, int, bool, text, text, text, text, bool, text) IS
    'all texts at least so similar to this one, as near_duplicates compares them by the same arguments: WHERE body <@ near(...)';

CREATE FUNCTION near(
    tokens text[],
    similarity float8 DEFAULT 0.8,
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL,
    method text DEFAULT 'jaccard',
    direction text DEFAULT 'row'
) RETURNS text_ball
    AS 'MODULE_PATHNAME', 'neardup_near_set_tokens'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION near(text[], float8, int, bool, text, text) IS
    'all arrays of words at least so similar to this one: WHERE words <@ near(...)';

CREATE FUNCTION near(
    lexemes tsvector,
    similarity float8 DEFAULT 0.8,
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL,
    method text DEFAULT 'jaccard',
    direction text DEFAULT 'row'
) RETURNS text_ball
    AS 'MODULE_PATHNAME', 'neardup_near_set_lexemes'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION near(tsvector, float8, int, bool, text, text) IS
    'all tsvectors at least so similar to this one: WHERE lexemes <@ near(...)';

CREATE FUNCTION near(
    numbers bigint[],
    similarity float8 DEFAULT 0.8,
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL,
    method text DEFAULT 'jaccard',
    direction text DEFAULT 'row'
) RETURNS text_ball
    AS 'MODULE_PATHNAME', 'neardup_near_set_numbers'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION near(bigint[], float8, int, bool, text, text) IS
    'all arrays of numbers, such as shingles, at least so similar to this one: WHERE numbers <@ near(...)';

CREATE FUNCTION near_similarity(value text, ball text_ball) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_near_similarity_text'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000 SUPPORT near_support;
COMMENT ON FUNCTION near_similarity(text, text_ball) IS
    'how similar a text is to the middle of a ball, to the last bit as near_duplicates says it';

CREATE FUNCTION near_similarity(value tsvector, ball text_ball) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_near_similarity_lexemes'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000 SUPPORT near_support;
COMMENT ON FUNCTION near_similarity(tsvector, text_ball) IS
    'how similar a tsvector is to the middle of a ball, to the last bit as near_duplicates says it';

CREATE FUNCTION near_similarity(value anyarray, ball text_ball) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_near_similarity_array'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000 SUPPORT near_support;
COMMENT ON FUNCTION near_similarity(anyarray, text_ball) IS
    'how similar an array is to the middle of a ball, to the last bit as near_duplicates says it';

CREATE FUNCTION text_in_ball(value text, ball text_ball) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_text_in_ball'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000 SUPPORT near_support;
COMMENT ON FUNCTION text_in_ball(text, text_ball) IS
    'whether a value is in a ball';

CREATE FUNCTION text_ball_contains(ball text_ball, value text) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_text_ball_contains'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000 SUPPORT near_support;
COMMENT ON FUNCTION text_ball_contains(text_ball, text) IS
    'whether a ball contains a value';

CREATE FUNCTION text_ball_distance(value text, ball text_ball) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_text_ball_distance_text'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000 SUPPORT near_support;
COMMENT ON FUNCTION text_ball_distance(text, text_ball) IS
    '1 minus the similarity to the middle of a ball; Infinity outside of the ball';

CREATE OPERATOR <@ (
    LEFTARG = text,
    RIGHTARG = text_ball,
    FUNCTION = text_in_ball,
    COMMUTATOR = @>,
    RESTRICT = near_selectivity,
    JOIN = near_join_selectivity
);
COMMENT ON OPERATOR <@ (text, text_ball) IS 'is in the ball';

CREATE OPERATOR @> (
    LEFTARG = text_ball,
    RIGHTARG = text,
    FUNCTION = text_ball_contains,
    COMMUTATOR = <@,
    RESTRICT = near_selectivity,
    JOIN = near_join_selectivity
);
COMMENT ON OPERATOR @> (text_ball, text) IS 'contains';

CREATE OPERATOR <-> (
    LEFTARG = text,
    RIGHTARG = text_ball,
    FUNCTION = text_ball_distance
);
COMMENT ON OPERATOR <-> (text, text_ball) IS 'distance to the middle of the ball, Infinity outside of it';

CREATE FUNCTION lexemes_in_ball(value tsvector, ball text_ball) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_lexemes_in_ball'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000 SUPPORT near_support;
COMMENT ON FUNCTION lexemes_in_ball(tsvector, text_ball) IS
    'whether a value is in a ball';

CREATE FUNCTION text_ball_contains(ball text_ball, value tsvector) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_text_ball_contains_lexemes'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000 SUPPORT near_support;
COMMENT ON FUNCTION text_ball_contains(text_ball, tsvector) IS
    'whether a ball contains a value';

CREATE FUNCTION text_ball_distance(value tsvector, ball text_ball) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_text_ball_distance_lexemes'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000 SUPPORT near_support;
COMMENT ON FUNCTION text_ball_distance(tsvector, text_ball) IS
    '1 minus the similarity to the middle of a ball; Infinity outside of the ball';

CREATE OPERATOR <@ (
    LEFTARG = tsvector,
    RIGHTARG = text_ball,
    FUNCTION = lexemes_in_ball,
    COMMUTATOR = @>,
    RESTRICT = near_selectivity,
    JOIN = near_join_selectivity
);
COMMENT ON OPERATOR <@ (tsvector, text_ball) IS 'is in the ball';

CREATE OPERATOR @> (
    LEFTARG = text_ball,
    RIGHTARG = tsvector,
    FUNCTION = text_ball_contains,
    COMMUTATOR = <@,
    RESTRICT = near_selectivity,
    JOIN = near_join_selectivity
);
COMMENT ON OPERATOR @> (text_ball, tsvector) IS 'contains';

CREATE OPERATOR <-> (
    LEFTARG = tsvector,
    RIGHTARG = text_ball,
    FUNCTION = text_ball_distance
);
COMMENT ON OPERATOR <-> (tsvector, text_ball) IS 'distance to the middle of the ball, Infinity outside of it';

CREATE FUNCTION array_in_ball(value anyarray, ball text_ball) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_array_in_ball'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000 SUPPORT near_support;
COMMENT ON FUNCTION array_in_ball(anyarray, text_ball) IS
    'whether a value is in a ball';

CREATE FUNCTION text_ball_contains(ball text_ball, value anyarray) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_text_ball_contains_array'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000 SUPPORT near_support;
COMMENT ON FUNCTION text_ball_contains(text_ball, anyarray) IS
    'whether a ball contains a value';

CREATE FUNCTION text_ball_distance(value anyarray, ball text_ball) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_text_ball_distance_array'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000 SUPPORT near_support;
COMMENT ON FUNCTION text_ball_distance(anyarray, text_ball) IS
    '1 minus the similarity to the middle of a ball; Infinity outside of the ball';

CREATE OPERATOR <@ (
    LEFTARG = anyarray,
    RIGHTARG = text_ball,
    FUNCTION = array_in_ball,
    COMMUTATOR = @>,
    RESTRICT = near_selectivity,
    JOIN = near_join_selectivity
);
COMMENT ON OPERATOR <@ (anyarray, text_ball) IS 'is in the ball';

CREATE OPERATOR @> (
    LEFTARG = text_ball,
    RIGHTARG = anyarray,
    FUNCTION = text_ball_contains,
    COMMUTATOR = <@,
    RESTRICT = near_selectivity,
    JOIN = near_join_selectivity
);
COMMENT ON OPERATOR @> (text_ball, anyarray) IS 'contains';

CREATE OPERATOR <-> (
    LEFTARG = anyarray,
    RIGHTARG = text_ball,
    FUNCTION = text_ball_distance
);
COMMENT ON OPERATOR <-> (anyarray, text_ball) IS 'distance to the middle of the ball, Infinity outside of it';

CREATE FUNCTION text_balls_meet(a text_ball, b text_ball) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_text_balls_meet'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION text_balls_meet(text_ball, text_ball) IS
    'whether the middle of each of two balls is in the other one';

CREATE OPERATOR && (
    LEFTARG = text_ball,
    RIGHTARG = text_ball,
    FUNCTION = text_balls_meet,
    COMMUTATOR = &&,
    RESTRICT = near_selectivity,
    JOIN = near_join_selectivity
);
COMMENT ON OPERATOR && (text_ball, text_ball) IS 'the middle of each is in the other';
