-- Sets of tokens as values, and orders of tokens, whose types are in sketch_types.sql. Bodies: src/pg/functions/token_sets.rs.

-- Not a text: postgres_fdw sends no call with a text that is not of a column, as it might have another collation there.
CREATE TYPE set_measure AS ENUM ('jaccard', 'cosine', 'dice', 'overlap');
COMMENT ON TYPE set_measure IS 'how the similarity of two sets is measured';

CREATE FUNCTION tokens(
    text text,
    tokenizer text DEFAULT 'words',
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL
) RETURNS token_set
    AS 'MODULE_PATHNAME', 'neardup_tokens_text'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION tokens(text, text, int, bool) IS
    'the set of the tokens of a text, cut as near_duplicates cuts it by the same arguments';

CREATE FUNCTION tokens(
    tokens text[],
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL
) RETURNS token_set
    AS 'MODULE_PATHNAME', 'neardup_tokens_tokens'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION tokens(text[], int, bool) IS 'the set of words that are given';

CREATE FUNCTION tokens(
    lexemes tsvector,
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL
) RETURNS token_set
    AS 'MODULE_PATHNAME', 'neardup_tokens_lexemes'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION tokens(tsvector, int, bool) IS 'the set of the lexemes of a tsvector, each as often as it has positions';

CREATE FUNCTION tokens(
    numbers bigint[],
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL
) RETURNS token_set
    AS 'MODULE_PATHNAME', 'neardup_tokens_numbers'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION tokens(bigint[], int, bool) IS 'the set of numbers that are given, such as shingles';

CREATE FUNCTION token_similarity(a token_set, b token_set, method set_measure DEFAULT 'jaccard') RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_token_similarity'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION token_similarity(token_set, token_set, set_measure) IS
    'the similarity of two sets of tokens by jaccard, cosine, dice or overlap, to the last bit that of near_duplicates';

CREATE FUNCTION token_order_step(internal, token_set, int) RETURNS internal
    AS 'MODULE_PATHNAME', 'neardup_token_order_step'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION token_order_step(internal, token_set, int) IS 'internal: counts the tokens of a set for token_order';

CREATE FUNCTION token_order_result(internal) RETURNS token_ranks
    AS 'MODULE_PATHNAME', 'neardup_token_order_result'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION token_order_result(internal) IS 'internal: the result of token_order';

CREATE AGGREGATE token_order(set token_set, keep int) (
    SFUNC = token_order_step,
    STYPE = internal,
    SSPACE = 67108864,
    FINALFUNC = token_order_result,
    FINALFUNC_MODIFY = READ_WRITE,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE token_order(token_set, int) IS
    'the order in which prefix_groups takes tokens: the keep most frequent ones of the sets, from rare to frequent, behind all others';
