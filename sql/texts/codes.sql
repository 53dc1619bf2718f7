-- Feature codes and their repeatability. Bodies: src/pg/functions/texts/codes.rs.

CREATE FUNCTION feature_code(
    text text,
    anchors text DEFAULT '',
    cut int DEFAULT 1000,
    unit_length int DEFAULT 300,
    unit_share float8 DEFAULT 0.75,
    paragraphs int DEFAULT 10,
    ends int DEFAULT 10,
    min_length int DEFAULT 6,
    fallback int DEFAULT 20
) RETURNS text
    AS 'MODULE_PATHNAME', 'neardup_feature_code'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION feature_code(text, text, int, int, float8, int, int, int, int) IS
    'the characters beside the punctuation marks of a text''s first long paragraphs, or the ends of its paragraphs: a short string that stays the same where little of the text changes';

CREATE FUNCTION repeatability(container text, contained text) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_repeatability'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION repeatability(text, text) IS
    'the longest common substring of the feature codes of two texts / the length of the code of contained';

CREATE FUNCTION code_repeatability(container text, contained text) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_code_repeatability'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION code_repeatability(text, text) IS
    'the longest common substring of two feature codes / the length of contained';
