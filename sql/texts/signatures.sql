-- Signatures of a text: spots and I-Match. Bodies: src/pg/functions/texts/signatures.rs.

CREATE FUNCTION spotsigs(
    text text,
    antecedents text[] DEFAULT NULL,
    chain int DEFAULT 2,
    distance int DEFAULT 1
) RETURNS bigint[]
    AS 'MODULE_PATHNAME', 'neardup_spotsigs'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION spotsigs(text, text[], int, int) IS
    'the distinct spot signatures of a text: chains of telling words behind common ones, hashed';

CREATE FUNCTION imatch(
    text text,
    terms text[] DEFAULT '{}',
    document_counts bigint[] DEFAULT '{}',
    documents bigint DEFAULT 1,
    lo float8 DEFAULT 0.1,
    hi float8 DEFAULT 1
) RETURNS bigint[]
    AS 'MODULE_PATHNAME', 'neardup_imatch'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION imatch(text, text[], bigint[], bigint, float8, float8) IS
    'the I-Match signature of a text: its distinct words whose idf is in a range, hashed together; no element where no word is';
