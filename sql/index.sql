-- The access method for searching by signatures. Bodies: src/pg/index.

CREATE FUNCTION signature_handler(internal) RETURNS index_am_handler
    AS 'MODULE_PATHNAME', 'neardup_signature_handler'
    LANGUAGE c STRICT;
COMMENT ON FUNCTION signature_handler(internal) IS 'handler of the access method signature';

CREATE ACCESS METHOD signature TYPE INDEX HANDLER signature_handler;
COMMENT ON ACCESS METHOD signature IS
    'index of signatures and sketches: finds near duplicates, and gives the answers of a sequential scan';

-- Support function 1 of an operator class says which class it is.
CREATE FUNCTION signature_class(bigint[]) RETURNS int
    AS 'MODULE_PATHNAME', 'neardup_signature_class_bigint'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION signature_class(bigint[]) IS 'support function of bigint_signature_ops';
CREATE FUNCTION signature_class(uuid[]) RETURNS int
    AS 'MODULE_PATHNAME', 'neardup_signature_class_uuid'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION signature_class(uuid[]) IS 'support function of uuid_signature_ops';

-- The operator is the core's, named with its schema: intarray has one of the same name.
CREATE OPERATOR FAMILY bigint_signature_ops USING signature;
COMMENT ON OPERATOR FAMILY bigint_signature_ops USING signature IS 'arrays of 64-bit signatures';
CREATE OPERATOR CLASS bigint_signature_ops DEFAULT FOR TYPE bigint[] USING signature FAMILY bigint_signature_ops AS
    OPERATOR 2 pg_catalog.&& (anyarray, anyarray),
    FUNCTION 1 signature_class(bigint[]);
COMMENT ON OPERATOR CLASS bigint_signature_ops USING signature IS
    'arrays of 64-bit signatures that share one: &&';

CREATE OPERATOR FAMILY uuid_signature_ops USING signature;
COMMENT ON OPERATOR FAMILY uuid_signature_ops USING signature IS 'arrays of 128-bit signatures';
CREATE OPERATOR CLASS uuid_signature_ops DEFAULT FOR TYPE uuid[] USING signature FAMILY uuid_signature_ops AS
    OPERATOR 2 pg_catalog.&& (anyarray, anyarray),
    FUNCTION 1 signature_class(uuid[]);
COMMENT ON OPERATOR CLASS uuid_signature_ops USING signature IS
    'arrays of 128-bit signatures that share one: &&';

CREATE FUNCTION signature_class(minhash_sketch) RETURNS int
    AS 'MODULE_PATHNAME', 'neardup_signature_class_minhash'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION signature_class(minhash_sketch) IS 'support function of minhash_jaccard_ops';
CREATE FUNCTION signature_class(simhash_sketch) RETURNS int
    AS 'MODULE_PATHNAME', 'neardup_signature_class_simhash'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION signature_class(simhash_sketch) IS 'support function of simhash_hamming_ops';
-- Support function 2 of an operator class declares its options.
CREATE FUNCTION signature_options_minhash(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'neardup_signature_options_minhash'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_options_minhash(internal) IS 'options of minhash_jaccard_ops: k, permutations, seed, source';
CREATE FUNCTION signature_options_simhash(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'neardup_signature_options_simhash'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_options_simhash(internal) IS 'options of simhash_hamming_ops: k, bits, source';
CREATE OPERATOR FAMILY minhash_jaccard_ops USING signature;
COMMENT ON OPERATOR FAMILY minhash_jaccard_ops USING signature IS 'minhash sketches by estimated resemblance';
CREATE OPERATOR CLASS minhash_jaccard_ops DEFAULT FOR TYPE minhash_sketch USING signature FAMILY minhash_jaccard_ops AS
    OPERATOR 1 <@ (minhash_sketch, minhash_ball),
    OPERATOR 3 <%> (minhash_sketch, minhash_sketch) FOR ORDER BY pg_catalog.float_ops,
    FUNCTION 1 signature_class(minhash_sketch),
    FUNCTION 2 signature_options_minhash(internal);
COMMENT ON OPERATOR CLASS minhash_jaccard_ops USING signature IS
    'minhash sketches: <@ near(sketch, similarity), ORDER BY <%>';

CREATE OPERATOR FAMILY simhash_hamming_ops USING signature;
COMMENT ON OPERATOR FAMILY simhash_hamming_ops USING signature IS 'simhash sketches by Hamming distance';
CREATE OPERATOR CLASS simhash_hamming_ops DEFAULT FOR TYPE simhash_sketch USING signature FAMILY simhash_hamming_ops AS
    OPERATOR 1 <@ (simhash_sketch, simhash_ball),
    OPERATOR 3 <~> (simhash_sketch, simhash_sketch) FOR ORDER BY pg_catalog.float_ops,
    FUNCTION 1 signature_class(simhash_sketch),
    FUNCTION 2 signature_options_simhash(internal);
COMMENT ON OPERATOR CLASS simhash_hamming_ops USING signature IS
    'simhash sketches: <@ near(sketch, distance), ORDER BY <~>';

-- Classes of sets: what is in a ball, as near_duplicates compares.
CREATE FUNCTION signature_set_class(text) RETURNS int
    AS 'MODULE_PATHNAME', 'neardup_signature_class_text_set'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION signature_set_class(text) IS 'support function of text_set_ops';
CREATE FUNCTION signature_set_class(anyarray) RETURNS int
    AS 'MODULE_PATHNAME', 'neardup_signature_class_array_set'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION signature_set_class(anyarray) IS 'support function of array_set_ops';
CREATE FUNCTION signature_set_class(tsvector) RETURNS int
    AS 'MODULE_PATHNAME', 'neardup_signature_class_tsvector_set'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION signature_set_class(tsvector) IS 'support function of tsvector_set_ops';
CREATE FUNCTION signature_set_class(text_ball) RETURNS int
    AS 'MODULE_PATHNAME', 'neardup_signature_class_ball_set'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION signature_set_class(text_ball) IS 'support function of text_ball_set_ops';
CREATE FUNCTION signature_options_set(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'neardup_signature_options_set'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_options_set(internal) IS
    'options of text_set_ops: measure, shingle, multiset, tokenizer, normalize, direction, threshold';
CREATE FUNCTION signature_options_ball_set(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'neardup_signature_options_ball_set'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_options_ball_set(internal) IS
    'options of text_ball_set_ops: measure, shingle, multiset, tokenizer, normalize, direction, threshold';
CREATE FUNCTION signature_options_tokens(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'neardup_signature_options_tokens'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_options_tokens(internal) IS
    'options of array_set_ops and tsvector_set_ops: measure, shingle, multiset, direction, threshold';

CREATE OPERATOR FAMILY text_set_ops USING signature;
COMMENT ON OPERATOR FAMILY text_set_ops USING signature IS 'texts by the similarity of their sets of words';
CREATE OPERATOR CLASS text_set_ops DEFAULT FOR TYPE text USING signature FAMILY text_set_ops AS
    OPERATOR 1 <@ (text, text_ball),
    OPERATOR 3 <-> (text, text_ball) FOR ORDER BY pg_catalog.float_ops,
    FUNCTION 1 signature_set_class(text),
    FUNCTION 2 signature_options_set(internal);
COMMENT ON OPERATOR CLASS text_set_ops USING signature IS
    'texts: <@ near(text, similarity), ORDER BY <->, exactly';

CREATE OPERATOR FAMILY array_set_ops USING signature;
COMMENT ON OPERATOR FAMILY array_set_ops USING signature IS 'arrays of words or integers by the similarity of their sets';
CREATE OPERATOR CLASS array_set_ops DEFAULT FOR TYPE anyarray USING signature FAMILY array_set_ops AS
    OPERATOR 1 <@ (anyarray, text_ball),
    OPERATOR 3 <-> (anyarray, text_ball) FOR ORDER BY pg_catalog.float_ops,
    FUNCTION 1 signature_set_class(anyarray),
    FUNCTION 2 signature_options_tokens(internal);
COMMENT ON OPERATOR CLASS array_set_ops USING signature IS
    'arrays of words or integers: <@ near(array, similarity), ORDER BY <->, exactly';

CREATE OPERATOR FAMILY tsvector_set_ops USING signature;
COMMENT ON OPERATOR FAMILY tsvector_set_ops USING signature IS 'tsvectors by the similarity of their sets of lexemes';
CREATE OPERATOR CLASS tsvector_set_ops DEFAULT FOR TYPE tsvector USING signature FAMILY tsvector_set_ops AS
    OPERATOR 1 <@ (tsvector, text_ball),
    OPERATOR 3 <-> (tsvector, text_ball) FOR ORDER BY pg_catalog.float_ops,
    FUNCTION 1 signature_set_class(tsvector),
    FUNCTION 2 signature_options_tokens(internal);
COMMENT ON OPERATOR CLASS tsvector_set_ops USING signature IS
    'tsvectors: <@ near(tsvector, similarity), ORDER BY <->, exactly';

CREATE OPERATOR FAMILY text_ball_set_ops USING signature;
COMMENT ON OPERATOR FAMILY text_ball_set_ops USING signature IS 'balls by the similarity of their middles';
CREATE OPERATOR CLASS text_ball_set_ops DEFAULT FOR TYPE text_ball USING signature FAMILY text_ball_set_ops AS
    OPERATOR 2 && (text_ball, text_ball),
    FUNCTION 1 signature_set_class(text_ball),
    FUNCTION 2 signature_options_ball_set(internal);
COMMENT ON OPERATOR CLASS text_ball_set_ops USING signature IS
    'balls: EXCLUDE USING signature (near(body, 0.8) WITH &&) lets no two near texts in';

-- The class of runs: what has so many tokens in a row in common.
CREATE FUNCTION signature_runs_class(text) RETURNS int
    AS 'MODULE_PATHNAME', 'neardup_signature_class_text_runs'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION signature_runs_class(text) IS 'support function of text_runs_ops';
CREATE FUNCTION signature_options_runs(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'neardup_signature_options_runs'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_options_runs(internal) IS 'options of text_runs_ops: min_run, tokenizer, normalize';
CREATE OPERATOR FAMILY text_runs_ops USING signature;
COMMENT ON OPERATOR FAMILY text_runs_ops USING signature IS 'texts by the runs of tokens that they have in common';
CREATE OPERATOR CLASS text_runs_ops FOR TYPE text USING signature FAMILY text_runs_ops AS
    OPERATOR 2 && (text, text_runs),
    FUNCTION 1 signature_runs_class(text),
    FUNCTION 2 signature_options_runs(internal);
COMMENT ON OPERATOR CLASS text_runs_ops USING signature IS
    'texts that have a run of tokens in common: body && shared_run(text, 16)';

-- The class of grams: short strings that have grams of characters in common.
CREATE FUNCTION signature_gram_class(text) RETURNS int
    AS 'MODULE_PATHNAME', 'neardup_signature_class_text_grams'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION signature_gram_class(text) IS 'support function of text_gram_ops';
CREATE FUNCTION signature_options_grams(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'neardup_signature_options_grams'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_options_grams(internal) IS 'options of text_gram_ops and text_ball_gram_ops: shingle, normalize';
CREATE OPERATOR FAMILY text_gram_ops USING signature;
COMMENT ON OPERATOR FAMILY text_gram_ops USING signature IS 'short texts by the grams of characters that they have in common';
CREATE OPERATOR CLASS text_gram_ops FOR TYPE text USING signature FAMILY text_gram_ops AS
    OPERATOR 1 <@ (text, text_ball),
    OPERATOR 3 <-> (text, text_ball) FOR ORDER BY pg_catalog.float_ops,
    FUNCTION 1 signature_gram_class(text),
    FUNCTION 2 signature_options_grams(internal);
COMMENT ON OPERATOR CLASS text_gram_ops USING signature IS
    'short texts: <@ near(text, similarity, tokenizer => ''chars''), ORDER BY <->, exactly, at every similarity';

CREATE FUNCTION signature_gram_class(text_ball) RETURNS int
    AS 'MODULE_PATHNAME', 'neardup_signature_class_ball_grams'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION signature_gram_class(text_ball) IS 'support function of text_ball_gram_ops';
CREATE OPERATOR FAMILY text_ball_gram_ops USING signature;
COMMENT ON OPERATOR FAMILY text_ball_gram_ops USING signature IS 'balls by the edit distance of their middles';
CREATE OPERATOR CLASS text_ball_gram_ops FOR TYPE text_ball USING signature FAMILY text_ball_gram_ops AS
    OPERATOR 2 && (text_ball, text_ball),
    FUNCTION 1 signature_gram_class(text_ball),
    FUNCTION 2 signature_options_grams(internal);
COMMENT ON OPERATOR CLASS text_ball_gram_ops USING signature IS
    'balls by edit distance: EXCLUDE USING signature (near(name, 0.8, method => ''edit'') text_ball_gram_ops WITH &&) lets no two near names in';

-- Classes of group columns, which come before the one that is searched. Support function 3 hashes a value.
CREATE OPERATOR FAMILY integer_group_ops USING signature;
COMMENT ON OPERATOR FAMILY integer_group_ops USING signature IS 'equal integers';
CREATE OPERATOR CLASS int2_group_ops DEFAULT FOR TYPE smallint USING signature FAMILY integer_group_ops AS
    OPERATOR 1 pg_catalog.= (smallint, smallint),
    OPERATOR 1 pg_catalog.= (smallint, int),
    OPERATOR 1 pg_catalog.= (smallint, bigint),
    FUNCTION 3 pg_catalog.hashint2extended(smallint, bigint);
COMMENT ON OPERATOR CLASS int2_group_ops USING signature IS 'group columns: (tenant, body)';
CREATE OPERATOR CLASS int4_group_ops DEFAULT FOR TYPE int USING signature FAMILY integer_group_ops AS
    OPERATOR 1 pg_catalog.= (int, int),
    OPERATOR 1 pg_catalog.= (int, smallint),
    OPERATOR 1 pg_catalog.= (int, bigint),
    FUNCTION 3 pg_catalog.hashint4extended(int, bigint);
COMMENT ON OPERATOR CLASS int4_group_ops USING signature IS 'group columns: (tenant, body)';
CREATE OPERATOR CLASS int8_group_ops DEFAULT FOR TYPE bigint USING signature FAMILY integer_group_ops AS
    OPERATOR 1 pg_catalog.= (bigint, bigint),
    OPERATOR 1 pg_catalog.= (bigint, smallint),
    OPERATOR 1 pg_catalog.= (bigint, int),
    FUNCTION 3 pg_catalog.hashint8extended(bigint, bigint);
COMMENT ON OPERATOR CLASS int8_group_ops USING signature IS 'group columns: (tenant, body)';
CREATE OPERATOR FAMILY uuid_group_ops USING signature;
COMMENT ON OPERATOR FAMILY uuid_group_ops USING signature IS 'equal uuids';
CREATE OPERATOR CLASS uuid_group_ops DEFAULT FOR TYPE uuid USING signature FAMILY uuid_group_ops AS
    OPERATOR 1 pg_catalog.= (uuid, uuid),
    FUNCTION 3 pg_catalog.uuid_hash_extended(uuid, bigint);
COMMENT ON OPERATOR CLASS uuid_group_ops USING signature IS 'group columns: (tenant, body)';
CREATE OPERATOR FAMILY date_group_ops USING signature;
COMMENT ON OPERATOR FAMILY date_group_ops USING signature IS 'equal dates';
CREATE OPERATOR CLASS date_group_ops DEFAULT FOR TYPE date USING signature FAMILY date_group_ops AS
    OPERATOR 1 pg_catalog.= (date, date),
    FUNCTION 3 pg_catalog.hashint4extended(int, bigint);
COMMENT ON OPERATOR CLASS date_group_ops USING signature IS 'group columns: (tenant, body)';
CREATE OPERATOR FAMILY bool_group_ops USING signature;
COMMENT ON OPERATOR FAMILY bool_group_ops USING signature IS 'equal booleans';
CREATE OPERATOR CLASS bool_group_ops DEFAULT FOR TYPE boolean USING signature FAMILY bool_group_ops AS
    OPERATOR 1 pg_catalog.= (boolean, boolean),
    FUNCTION 3 pg_catalog.hashcharextended("char", bigint);
COMMENT ON OPERATOR CLASS bool_group_ops USING signature IS 'group columns: (tenant, body)';
CREATE OPERATOR FAMILY enum_group_ops USING signature;
COMMENT ON OPERATOR FAMILY enum_group_ops USING signature IS 'equal enums';
CREATE OPERATOR CLASS enum_group_ops DEFAULT FOR TYPE anyenum USING signature FAMILY enum_group_ops AS
    OPERATOR 1 pg_catalog.= (anyenum, anyenum),
    FUNCTION 3 pg_catalog.hashenumextended(anyenum, bigint);
COMMENT ON OPERATOR CLASS enum_group_ops USING signature IS 'group columns: (tenant, body)';
CREATE OPERATOR FAMILY text_group_ops USING signature;
COMMENT ON OPERATOR FAMILY text_group_ops USING signature IS 'equal texts';
CREATE OPERATOR CLASS text_group_ops FOR TYPE text USING signature FAMILY text_group_ops AS
    OPERATOR 1 pg_catalog.= (text, text),
    FUNCTION 3 pg_catalog.hashtextextended(text, bigint);
COMMENT ON OPERATOR CLASS text_group_ops USING signature IS 'group columns: (lang text_group_ops, body)';

CREATE FUNCTION signature_index_check(index regclass, heapallindexed bool DEFAULT false) RETURNS void
    AS 'MODULE_PATHNAME', 'neardup_signature_index_check'
    LANGUAGE c VOLATILE STRICT PARALLEL RESTRICTED COST 100000;
COMMENT ON FUNCTION signature_index_check(regclass, bool) IS
    'reads all of an index of access method signature and raises an error for what is wrong; with heapallindexed also for rows of the table that it lacks';

CREATE FUNCTION signature_index_fits(index regclass, ball text_ball) RETURNS text
    AS 'MODULE_PATHNAME', 'neardup_signature_index_fits'
    LANGUAGE c VOLATILE STRICT PARALLEL RESTRICTED COST 1000;
COMMENT ON FUNCTION signature_index_fits(regclass, text_ball) IS
    'why an index of sets does not serve a ball, so that all rows would have to be looked at; NULL if it does';

CREATE FUNCTION signature_index_stats(index regclass,
    OUT rows bigint, OUT segments int, OUT pending bigint, OUT dead bigint, OUT nulls bigint,
    OUT signatures bigint, OUT pages bigint, OUT pending_pages bigint, OUT options text,
    OUT frequent_signatures bigint[], OUT frequent_rows bigint[], OUT stopped_signatures bigint[])
    AS 'MODULE_PATHNAME', 'neardup_signature_index_stats'
    LANGUAGE c VOLATILE STRICT PARALLEL RESTRICTED COST 100000;
COMMENT ON FUNCTION signature_index_stats(regclass) IS
    'what is in an index of access method signature, and its most frequent signatures';

CREATE FUNCTION signature_index_merge(index regclass) RETURNS int
    AS 'MODULE_PATHNAME', 'neardup_signature_index_merge'
    LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION signature_index_merge(regclass) IS
    'makes one segment of all of an index of access method signature, without dead rows; the number of segments';
