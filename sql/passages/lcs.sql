-- Longest common subsequences, their trustable parts, and sentence signatures. Bodies: src/pg/functions/passages/lcs.rs.

CREATE FUNCTION lcs_length(a text, b text) RETURNS bigint
    AS 'MODULE_PATHNAME', 'neardup_lcs_length'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION lcs_length(text, text) IS
    'characters of the longest common subsequence of two texts, exactly';

CREATE FUNCTION lcs_resemblance(a text, b text) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_lcs_resemblance'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION lcs_resemblance(text, text) IS
    'twice the longest common subsequence of two texts / the characters of both';

CREATE FUNCTION lcs_containment(a text, b text) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_lcs_containment'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION lcs_containment(text, text) IS
    'the share of the characters of b that are in the longest common subsequence of a and b';

CREATE FUNCTION tlcs_resemblance(
    a text,
    b text,
    slope float8 DEFAULT 0.1,
    "window" int DEFAULT 16,
    first int DEFAULT 10240,
    centre float8[] DEFAULT '{0.4,0.6}',
    min_part int DEFAULT 0,
    blocks int DEFAULT 16
) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_tlcs_resemblance'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION tlcs_resemblance(text, text, float8, int, int, float8[], int, int) IS
    'twice the trustable longest common subsequence of two texts / the characters of both: what they share without a break, not only as templates';

CREATE FUNCTION tlcs_containment(
    a text,
    b text,
    slope float8 DEFAULT 0.1,
    "window" int DEFAULT 16,
    first int DEFAULT 10240,
    centre float8[] DEFAULT '{0.4,0.6}',
    min_part int DEFAULT 0,
    blocks int DEFAULT 16
) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_tlcs_containment'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION tlcs_containment(text, text, float8, int, int, float8[], int, int) IS
    'the share of the characters of b that are in the trustable longest common subsequence of a and b';

CREATE FUNCTION tlcs(
    a text,
    b text,
    slope float8 DEFAULT 0.1,
    "window" int DEFAULT 16,
    first int DEFAULT 10240,
    centre float8[] DEFAULT '{0.4,0.6}',
    min_part int DEFAULT 0,
    blocks int DEFAULT 16
) RETURNS TABLE(left_span int4range, right_span int4range, length int)
    AS 'MODULE_PATHNAME', 'neardup_tlcs'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10000 ROWS 1;
COMMENT ON FUNCTION tlcs(text, text, float8, int, int, float8[], int, int) IS
    'the trustable regions of two texts, and how many characters they have in common there; spans count characters as substring does';

CREATE FUNCTION sentence_signatures(
    text text,
    m int DEFAULT 7,
    n int DEFAULT 16,
    s int DEFAULT 3,
    min_width int DEFAULT 16
) RETURNS uuid[]
    AS 'MODULE_PATHNAME', 'neardup_sentence_signatures'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION sentence_signatures(text, int, int, int, int) IS
    'at most m * n signatures of the sentences of a text that are wider than min_width; texts with long sentences in common are likely to have one in common';
