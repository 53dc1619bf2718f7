-- Sketches of documents, what is near to them, and shared signatures. Bodies: src/pg/functions/sketches.rs, src/pg/functions/near.rs,
-- src/pg/functions/shares.rs.

CREATE FUNCTION minhash(
    text text,
    k int DEFAULT 5,
    permutations int DEFAULT 128,
    seed bigint DEFAULT 1,
    tokenizer text DEFAULT 'words'
) RETURNS minhash_sketch
    AS 'MODULE_PATHNAME', 'neardup_minhash_text'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION minhash(text, int, int, bigint, text) IS
    'minhash sketch of a text: for each permutation the least hash of any run of k';

CREATE FUNCTION minhash(
    tokens text[],
    k int DEFAULT 5,
    permutations int DEFAULT 128,
    seed bigint DEFAULT 1
) RETURNS minhash_sketch
    AS 'MODULE_PATHNAME', 'neardup_minhash_tokens'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION minhash(text[], int, int, bigint) IS
    'minhash sketch of words that are given: for each permutation the least hash of any run of k';

CREATE FUNCTION minhash(
    lexemes tsvector,
    k int DEFAULT 5,
    permutations int DEFAULT 128,
    seed bigint DEFAULT 1
) RETURNS minhash_sketch
    AS 'MODULE_PATHNAME', 'neardup_minhash_lexemes'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION minhash(tsvector, int, int, bigint) IS
    'minhash sketch of a tsvector: lexemes by their positions: for each permutation the least hash of any run of k';

CREATE FUNCTION minhash(
    numbers bigint[],
    k int DEFAULT 1,
    permutations int DEFAULT 128,
    seed bigint DEFAULT 1
) RETURNS minhash_sketch
    AS 'MODULE_PATHNAME', 'neardup_minhash_numbers'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION minhash(bigint[], int, int, bigint) IS
    'minhash sketch of numbers that are given, such as shingles: for each permutation the least hash of any run of k';

CREATE FUNCTION simhash(
    text text,
    bits int DEFAULT 64,
    k int DEFAULT 1,
    tokenizer text DEFAULT 'words'
) RETURNS simhash_sketch
    AS 'MODULE_PATHNAME', 'neardup_simhash_text'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash(text, int, int, text) IS
    'simhash sketch of a text: bits by majority of the hashes of all runs of k (64, 128, 192, 256, 384, 512 or 1024)';

CREATE FUNCTION simhash(
    tokens text[],
    bits int DEFAULT 64,
    k int DEFAULT 1
) RETURNS simhash_sketch
    AS 'MODULE_PATHNAME', 'neardup_simhash_tokens'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash(text[], int, int) IS
    'simhash sketch of words that are given: bits by majority of the hashes of all runs of k (64, 128, 192, 256, 384, 512 or 1024)';

CREATE FUNCTION simhash(
    lexemes tsvector,
    bits int DEFAULT 64,
    k int DEFAULT 1
) RETURNS simhash_sketch
    AS 'MODULE_PATHNAME', 'neardup_simhash_lexemes'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash(tsvector, int, int) IS
    'simhash sketch of a tsvector: lexemes by their positions: bits by majority of the hashes of all runs of k (64, 128, 192, 256, 384, 512 or 1024)';

CREATE FUNCTION simhash(
    numbers bigint[],
    bits int DEFAULT 64,
    k int DEFAULT 1
) RETURNS simhash_sketch
    AS 'MODULE_PATHNAME', 'neardup_simhash_numbers'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash(bigint[], int, int) IS
    'simhash sketch of numbers that are given, such as shingles: bits by majority of the hashes of all runs of k (64, 128, 192, 256, 384, 512 or 1024)';

CREATE FUNCTION minhash_similarity(a minhash_sketch, b minhash_sketch) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_minhash_similarity'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION minhash_similarity(minhash_sketch, minhash_sketch) IS
    'the share of agreeing values, an estimate of the resemblance; 0 for an empty document';

CREATE FUNCTION minhash_distance(a minhash_sketch, b minhash_sketch) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_minhash_distance'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION minhash_distance(minhash_sketch, minhash_sketch) IS
    'the share of unlike values, an estimate of the Jaccard distance; 1 for an empty document';

CREATE FUNCTION simhash_similarity(a simhash_sketch, b simhash_sketch) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_simhash_similarity'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION simhash_similarity(simhash_sketch, simhash_sketch) IS
    'the share of agreeing bits; 0 for an empty document';

CREATE FUNCTION simhash_distance(a simhash_sketch, b simhash_sketch) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_simhash_distance'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION simhash_distance(simhash_sketch, simhash_sketch) IS
    'the number of unlike bits (Hamming distance); all for an empty document';

CREATE OPERATOR <%> (LEFTARG = minhash_sketch, RIGHTARG = minhash_sketch, FUNCTION = minhash_distance, COMMUTATOR = <%>);
COMMENT ON OPERATOR <%> (minhash_sketch, minhash_sketch) IS 'estimated Jaccard distance';

CREATE OPERATOR <~> (LEFTARG = simhash_sketch, RIGHTARG = simhash_sketch, FUNCTION = simhash_distance, COMMUTATOR = <~>);
COMMENT ON OPERATOR <~> (simhash_sketch, simhash_sketch) IS 'Hamming distance';

CREATE FUNCTION supershingles(sketch minhash_sketch, groups int DEFAULT 6) RETURNS bigint[]
    AS 'MODULE_PATHNAME', 'neardup_supershingles'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION supershingles(minhash_sketch, int) IS
    'a fingerprint of each of so many groups of minhash values (Broder); none of an empty document';

CREATE FUNCTION megashingles(sketch minhash_sketch, groups int DEFAULT 6) RETURNS bigint[]
    AS 'MODULE_PATHNAME', 'neardup_megashingles'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION megashingles(minhash_sketch, int) IS
    'a fingerprint of each pair of supershingles: sharing one is agreeing in two';

CREATE FUNCTION simhash_from_bits(bits bit) RETURNS simhash_sketch
    AS 'MODULE_PATHNAME', 'neardup_simhash_from_bits'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION simhash_from_bits(bit) IS
    'a sketch of bits that were made elsewhere';

CREATE FUNCTION simhash_to_bit(sketch simhash_sketch) RETURNS bit
    AS 'MODULE_PATHNAME', 'neardup_simhash_to_bits'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION simhash_to_bit(simhash_sketch) IS
    'the bits of a sketch';

CREATE CAST (bit AS simhash_sketch) WITH FUNCTION simhash_from_bits(bit) AS ASSIGNMENT;
COMMENT ON CAST (bit AS simhash_sketch) IS 'a sketch of bits that were made elsewhere';

CREATE CAST (simhash_sketch AS bit) WITH FUNCTION simhash_to_bit(simhash_sketch) AS ASSIGNMENT;
COMMENT ON CAST (simhash_sketch AS bit) IS 'the bits of a sketch';

CREATE FUNCTION simhash_from_bits(bits varbit) RETURNS simhash_sketch
    AS 'MODULE_PATHNAME', 'neardup_simhash_from_bits'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION simhash_from_bits(varbit) IS
    'a sketch of bits that were made elsewhere';

CREATE FUNCTION simhash_to_varbit(sketch simhash_sketch) RETURNS varbit
    AS 'MODULE_PATHNAME', 'neardup_simhash_to_bits'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION simhash_to_varbit(simhash_sketch) IS
    'the bits of a sketch';

CREATE CAST (varbit AS simhash_sketch) WITH FUNCTION simhash_from_bits(varbit) AS ASSIGNMENT;
COMMENT ON CAST (varbit AS simhash_sketch) IS 'a sketch of bits that were made elsewhere';

CREATE CAST (simhash_sketch AS varbit) WITH FUNCTION simhash_to_varbit(simhash_sketch) AS ASSIGNMENT;
COMMENT ON CAST (simhash_sketch AS varbit) IS 'the bits of a sketch';

CREATE FUNCTION near(
    text text,
    similarity float8,
    k int DEFAULT 5,
    permutations int DEFAULT 128
) RETURNS text_ball
    AS 'MODULE_PATHNAME', 'neardup_near_text'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION near(text, float8, int, int) IS
    'all texts whose minhash sketches are at least so similar to that of this one: WHERE body <@ near(...)';

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

CREATE FUNCTION text_in_ball(value text, ball text_ball) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_text_in_ball'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION text_in_ball(text, text_ball) IS
    'whether a value is in a ball';

CREATE FUNCTION text_ball_contains(ball text_ball, value text) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_text_ball_contains'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION text_ball_contains(text_ball, text) IS
    'whether a ball contains a value';

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
