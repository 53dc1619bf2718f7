-- Sentences and paragraphs of a text with their places. Bodies: src/pg/functions/texts/spans.rs.

CREATE FUNCTION sentences(text text) RETURNS TABLE(no int, span int4range, sentence text)
    AS 'MODULE_PATHNAME', 'neardup_sentences'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 30;
COMMENT ON FUNCTION sentences(text) IS
    'the sentences of a text in order, English or Chinese; span counts characters as substring does';

CREATE FUNCTION paragraphs(text text) RETURNS TABLE(no int, span int4range, paragraph text)
    AS 'MODULE_PATHNAME', 'neardup_paragraphs'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 10;
COMMENT ON FUNCTION paragraphs(text) IS
    'the paragraphs of a text in order: parted by blank lines, or its lines where it has no blank one';
