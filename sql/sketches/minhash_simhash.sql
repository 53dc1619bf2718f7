-- Sketches of documents, their similarities, fingerprints and bands. Bodies: src/pg/functions/sketches/minhash_simhash.rs.

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
    'simhash sketch of a text: bits by majority of the hashes of all runs of k (a multiple of 4 from 8 to 1024)';

CREATE FUNCTION simhash(
    tokens text[],
    bits int DEFAULT 64,
    k int DEFAULT 1
) RETURNS simhash_sketch
    AS 'MODULE_PATHNAME', 'neardup_simhash_tokens'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash(text[], int, int) IS
    'simhash sketch of words that are given: bits by majority of the hashes of all runs of k (a multiple of 4 from 8 to 1024)';

CREATE FUNCTION simhash(
    lexemes tsvector,
    bits int DEFAULT 64,
    k int DEFAULT 1
) RETURNS simhash_sketch
    AS 'MODULE_PATHNAME', 'neardup_simhash_lexemes'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash(tsvector, int, int) IS
    'simhash sketch of a tsvector: lexemes by their positions: bits by majority of the hashes of all runs of k (a multiple of 4 from 8 to 1024)';

CREATE FUNCTION simhash(
    numbers bigint[],
    bits int DEFAULT 64,
    k int DEFAULT 1
) RETURNS simhash_sketch
    AS 'MODULE_PATHNAME', 'neardup_simhash_numbers'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash(bigint[], int, int) IS
    'simhash sketch of numbers that are given, such as shingles: bits by majority of the hashes of all runs of k (a multiple of 4 from 8 to 1024)';

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
    AS 'MODULE_PATHNAME', 'neardup_simhash_to_bit'
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
    AS 'MODULE_PATHNAME', 'neardup_simhash_to_varbit'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION simhash_to_varbit(simhash_sketch) IS
    'the bits of a sketch';

CREATE CAST (varbit AS simhash_sketch) WITH FUNCTION simhash_from_bits(varbit) AS ASSIGNMENT;
COMMENT ON CAST (varbit AS simhash_sketch) IS 'a sketch of bits that were made elsewhere';

CREATE CAST (simhash_sketch AS varbit) WITH FUNCTION simhash_to_varbit(simhash_sketch) AS ASSIGNMENT;
COMMENT ON CAST (simhash_sketch AS varbit) IS 'the bits of a sketch';

CREATE FUNCTION neardup_plan(
    threshold float8 DEFAULT 0.8,
    recall float8 DEFAULT 0.95,
    preset text DEFAULT NULL
) RETURNS TABLE(
    bands int,
    "rows" int,
    permutations int,
    detection_at_threshold float8,
    similarity float8,
    detection float8
)
    AS 'MODULE_PATHNAME', 'neardup_plan'
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 20;
COMMENT ON FUNCTION neardup_plan(float8, float8, text) IS
    'bands and rows of minhash that find a pair as similar as the threshold with probability recall, or those of a preset, and with which probability they find pairs of other similarities';
