-- Near duplicates as a table, made where the documents are: src/pg/into.

-- A method in parts: what is carried of a document, as core/src/methods/carrier.rs describes it. The method is a JSON
-- object with its arguments: unlike a text, it is sent to servers.
CREATE FUNCTION neardup_part_document(document pg_catalog.text, site pg_catalog.text, within pg_catalog.text, across pg_catalog.text, method pg_catalog.jsonb, internal neardup_internal DEFAULT NULL)
    RETURNS pg_catalog.bytea
    AS 'MODULE_PATHNAME', 'neardup_part_document_text'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION neardup_part_document(text, text, text, text, jsonb, neardup_internal) IS
    'internal: what stands for a document wherever near_duplicates_into compares it by a method';
CREATE FUNCTION neardup_part_document(document pg_catalog.text[], site pg_catalog.text, within pg_catalog.text, across pg_catalog.text, method pg_catalog.jsonb, internal neardup_internal DEFAULT NULL)
    RETURNS pg_catalog.bytea
    AS 'MODULE_PATHNAME', 'neardup_part_document_tokens'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION neardup_part_document(text[], text, text, text, jsonb, neardup_internal) IS 'internal: what stands for tokens';
CREATE FUNCTION neardup_part_document(document pg_catalog.tsvector, site pg_catalog.text, within pg_catalog.text, across pg_catalog.text, method pg_catalog.jsonb, internal neardup_internal DEFAULT NULL)
    RETURNS pg_catalog.bytea
    AS 'MODULE_PATHNAME', 'neardup_part_document_lexemes'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION neardup_part_document(tsvector, text, text, text, jsonb, neardup_internal) IS 'internal: what stands for lexemes';
CREATE FUNCTION neardup_part_document(document pg_catalog.int8[], site pg_catalog.text, within pg_catalog.text, across pg_catalog.text, method pg_catalog.jsonb, internal neardup_internal DEFAULT NULL)
    RETURNS pg_catalog.bytea
    AS 'MODULE_PATHNAME', 'neardup_part_document_numbers'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION neardup_part_document(bigint[], text, text, text, jsonb, neardup_internal) IS 'internal: what stands for numbers';
CREATE FUNCTION neardup_part_ranks_step(internal, pg_catalog.bytea, pg_catalog.jsonb, neardup_internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'neardup_part_ranks_step'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_part_ranks_step(internal, bytea, jsonb, neardup_internal) IS
    'internal: adds a document to neardup_part_ranks';
CREATE FUNCTION neardup_part_ranks_result(internal, pg_catalog.bytea, pg_catalog.jsonb, neardup_internal) RETURNS pg_catalog.bytea
    AS 'MODULE_PATHNAME', 'neardup_part_ranks_result'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_part_ranks_result(internal, bytea, jsonb, neardup_internal) IS
    'internal: the result of neardup_part_ranks';
CREATE AGGREGATE neardup_part_ranks(carried pg_catalog.bytea, method pg_catalog.jsonb, internal neardup_internal) (
    SFUNC = neardup_part_ranks_step,
    STYPE = internal,
    FINALFUNC = neardup_part_ranks_result,
    FINALFUNC_EXTRA,
    FINALFUNC_MODIFY = READ_WRITE,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE neardup_part_ranks(bytea, jsonb, neardup_internal) IS
    'internal: what a method counts of carried documents before they meet: an order of tokens, or the terms that do not count';
CREATE FUNCTION neardup_part_rows(carried pg_catalog.bytea, ranks pg_catalog.bytea, method pg_catalog.jsonb, parts pg_catalog.int4,
    internal neardup_internal DEFAULT NULL)
    RETURNS TABLE(part pg_catalog.int4, size pg_catalog.int4, bitmap pg_catalog.bytea, prefix pg_catalog.bytea)
    AS 'MODULE_PATHNAME', 'neardup_part_rows'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000 ROWS 10;
COMMENT ON FUNCTION neardup_part_rows(bytea, bytea, jsonb, int, neardup_internal) IS
    'internal: a carried document as rows for neardup_part_join, one for each part that keys of it fall into';
CREATE FUNCTION neardup_part_join_step(internal, pg_catalog.int8, pg_catalog.int4, pg_catalog.bytea, pg_catalog.bytea, pg_catalog.jsonb, neardup_internal)
    RETURNS internal
    AS 'MODULE_PATHNAME', 'neardup_part_join_step'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_part_join_step(internal, bigint, int, bytea, bytea, jsonb, neardup_internal) IS
    'internal: adds a row to a part for neardup_part_join';
CREATE FUNCTION neardup_part_join_result(internal, pg_catalog.int8, pg_catalog.int4, pg_catalog.bytea, pg_catalog.bytea, pg_catalog.jsonb, neardup_internal)
    RETURNS pg_catalog.int8[]
    AS 'MODULE_PATHNAME', 'neardup_part_join_result'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_part_join_result(internal, bigint, int, bytea, bytea, jsonb, neardup_internal) IS
    'internal: the result of neardup_part_join';
CREATE AGGREGATE neardup_part_join(id pg_catalog.int8, size pg_catalog.int4, bitmap pg_catalog.bytea, prefix pg_catalog.bytea, method pg_catalog.jsonb,
    internal neardup_internal) (
    SFUNC = neardup_part_join_step,
    STYPE = internal,
    SSPACE = 67108864,
    FINALFUNC = neardup_part_join_result,
    FINALFUNC_EXTRA,
    FINALFUNC_MODIFY = READ_WRITE,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE neardup_part_join(bigint, int, bytea, bytea, jsonb, neardup_internal) IS
    'internal: the pairs of a part that a method may find similar, for near_duplicates_into';
CREATE FUNCTION neardup_part_candidates(ids pg_catalog.int8[], internal neardup_internal DEFAULT NULL)
    RETURNS TABLE(left_id pg_catalog.int8, right_id pg_catalog.int8)
    AS 'MODULE_PATHNAME', 'neardup_part_candidates'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 100 ROWS 1000;
COMMENT ON FUNCTION neardup_part_candidates(bigint[], neardup_internal) IS 'internal: the numbers of neardup_part_join as rows';
CREATE FUNCTION neardup_part_similarity("left" pg_catalog.bytea, "right" pg_catalog.bytea, ranks pg_catalog.bytea, method pg_catalog.jsonb,
    internal neardup_internal DEFAULT NULL) RETURNS pg_catalog.float8
    AS 'MODULE_PATHNAME', 'neardup_part_similarity'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION neardup_part_similarity(bytea, bytea, bytea, jsonb, neardup_internal) IS
    'internal: the similarity of two carried documents, NULL if they are no pair';
CREATE FUNCTION neardup_part_passages("left" pg_catalog.bytea, "right" pg_catalog.bytea, ranks pg_catalog.bytea, method pg_catalog.jsonb,
    internal neardup_internal DEFAULT NULL) RETURNS pg_catalog.bytea
    AS 'MODULE_PATHNAME', 'neardup_part_passages'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_part_passages(bytea, bytea, bytea, jsonb, neardup_internal) IS
    'internal: the passages that two carried documents share, in one value; NULL if they share none';
CREATE FUNCTION neardup_part_passage_rows(passages pg_catalog.bytea, internal neardup_internal DEFAULT NULL)
    RETURNS TABLE(left_sentence pg_catalog.int4, right_sentence pg_catalog.int4, sentences pg_catalog.int4,
        left_span pg_catalog.int4range, right_span pg_catalog.int4range, similarity pg_catalog.float8)
    AS 'MODULE_PATHNAME', 'neardup_part_passage_rows'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 10 ROWS 5;
COMMENT ON FUNCTION neardup_part_passage_rows(bytea, neardup_internal) IS
    'internal: a value of neardup_part_passages as rows';

-- The rows of parts in pieces, for tables that sessions share.
CREATE FUNCTION neardup_part_pack_result(internal) RETURNS pg_catalog.bytea[]
    AS 'MODULE_PATHNAME', 'neardup_part_pack_result'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_part_pack_result(internal) IS
    'internal: the result of neardup_part_pack';
CREATE FUNCTION neardup_part_join_packed_result(internal) RETURNS pg_catalog.int8[]
    AS 'MODULE_PATHNAME', 'neardup_part_join_result'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_part_join_packed_result(internal) IS
    'internal: the result of neardup_part_join_packed';
CREATE FUNCTION neardup_part_pack_step(internal, pg_catalog.int8, pg_catalog.bytea, pg_catalog.bytea, pg_catalog.jsonb, pg_catalog.int4, neardup_internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'neardup_part_pack_step'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_part_pack_step(internal, bigint, bytea, bytea, jsonb, int, neardup_internal) IS
    'internal: packs the rows of a document for neardup_part_pack';
CREATE AGGREGATE neardup_part_pack(n pg_catalog.int8, carried pg_catalog.bytea, ranks pg_catalog.bytea, method pg_catalog.jsonb, parts pg_catalog.int4, internal neardup_internal) (
    SFUNC = neardup_part_pack_step,
    STYPE = internal,
    FINALFUNC = neardup_part_pack_result,
    FINALFUNC_MODIFY = READ_WRITE,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE neardup_part_pack(bigint, bytea, bytea, jsonb, int, neardup_internal) IS
    'internal: the rows of carried documents for all parts that keys of them fall into, many in a value';
CREATE FUNCTION neardup_part_join_packed_step(internal, pg_catalog.bytea, pg_catalog.jsonb, neardup_internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'neardup_part_join_packed_step'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_part_join_packed_step(internal, bytea, jsonb, neardup_internal) IS
    'internal: adds packed rows to a part for neardup_part_join_packed';
CREATE AGGREGATE neardup_part_join_packed(rows pg_catalog.bytea, method pg_catalog.jsonb, internal neardup_internal) (
    SFUNC = neardup_part_join_packed_step,
    STYPE = internal,
    SSPACE = 67108864,
    FINALFUNC = neardup_part_join_packed_result,
    FINALFUNC_MODIFY = READ_WRITE,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE neardup_part_join_packed(bytea, jsonb, neardup_internal) IS
    'internal: neardup_part_join of rows from neardup_part_pack';

CREATE FUNCTION neardup_into_step(docs pg_catalog.regclass, threshold pg_catalog.float8, options pg_catalog.jsonb, arguments pg_catalog.jsonb,
    began pg_catalog.timestamptz, internal neardup_internal DEFAULT NULL) RETURNS pg_catalog.text
    AS 'MODULE_PATHNAME', 'neardup_into_step'
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION neardup_into_step(regclass, float8, jsonb, jsonb, timestamptz, neardup_internal) IS 'internal: one transaction of near_duplicates_into; more or done';
CREATE FUNCTION neardup_into_begin(docs pg_catalog.regclass, threshold pg_catalog.float8, options pg_catalog.jsonb, arguments pg_catalog.jsonb,
    began pg_catalog.timestamptz, internal neardup_internal DEFAULT NULL) RETURNS pg_catalog.bool
    AS 'MODULE_PATHNAME', 'neardup_into_begin'
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION neardup_into_begin(regclass, float8, jsonb, jsonb, timestamptz, neardup_internal) IS
    'internal: checks that near_duplicates_into can commit; whether steps that fail may be repeated';
CREATE FUNCTION neardup_into_again(state pg_catalog.text, message pg_catalog.text, began pg_catalog.timestamptz, internal neardup_internal DEFAULT NULL)
    RETURNS pg_catalog.bool
    AS 'MODULE_PATHNAME', 'neardup_into_again'
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION neardup_into_again(text, text, timestamptz, neardup_internal) IS
    'internal: whether the step of near_duplicates_into that failed with this error is repeated';

-- Thin: each step is a transaction of its own. A function in C that commits would have to keep up with every version of
-- the server.
CREATE PROCEDURE neardup_into_steps(docs pg_catalog.regclass, threshold pg_catalog.float8, options pg_catalog.jsonb, arguments pg_catalog.jsonb)
    LANGUAGE plpgsql
AS $$
DECLARE
    home pg_catalog.name;
    status pg_catalog.text;
    guarded pg_catalog.bool;
    failure pg_catalog.text;
    message pg_catalog.text;
    began pg_catalog.timestamptz := pg_catalog.clock_timestamp();
BEGIN
    -- The last argument lets no other function be meant.
    SELECT n.nspname INTO STRICT home
    FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
    WHERE e.extname OPERATOR(pg_catalog.=) 'neardup'::pg_catalog.name;
    EXECUTE pg_catalog.format('SELECT neardup_internal.neardup_into_begin($1, $2, $3, $4, $5, NULL::%1$I.neardup_internal)'::pg_catalog.text, home) INTO guarded USING docs, threshold, options, arguments, began;
    LOOP
        failure := NULL;
        IF guarded THEN
            BEGIN
                EXECUTE pg_catalog.format('SELECT neardup_internal.neardup_into_step($1, $2, $3, $4, $5, NULL::%1$I.neardup_internal)'::pg_catalog.text, home) INTO status USING docs, threshold, options, arguments, began;
            EXCEPTION
                -- Other nodes, and other transactions.
                WHEN connection_exception OR serialization_failure OR deadlock_detected OR admin_shutdown OR crash_shutdown OR cannot_connect_now
                    OR too_many_connections THEN
                    GET STACKED DIAGNOSTICS failure := RETURNED_SQLSTATE, message := MESSAGE_TEXT;
                    EXECUTE pg_catalog.format('SELECT neardup_internal.neardup_into_again($1, $2, $3, NULL::%1$I.neardup_internal)'::pg_catalog.text, home) INTO guarded USING failure, message, began;
                    IF NOT guarded THEN
                        RAISE;
                    END IF;
            END;
        ELSE
            EXECUTE pg_catalog.format('SELECT neardup_internal.neardup_into_step($1, $2, $3, $4, $5, NULL::%1$I.neardup_internal)'::pg_catalog.text, home) INTO status USING docs, threshold, options, arguments, began;
        END IF;
        IF failure IS NULL THEN
            COMMIT;
            EXIT WHEN status OPERATOR(pg_catalog.<>) 'more'::pg_catalog.text;
        ELSE
            ROLLBACK;
        END IF;
    END LOOP;
END
$$;
COMMENT ON PROCEDURE neardup_into_steps(regclass, float8, jsonb, jsonb) IS
    'internal: the steps of near_duplicates_into and of partial_duplicates_into, each of which commits, and is repeated if a node failed';

CREATE PROCEDURE near_duplicates_into(
    docs pg_catalog.regclass,
    threshold pg_catalog.float8 DEFAULT NULL,
    pairs pg_catalog.text DEFAULT NULL,
    options pg_catalog.jsonb DEFAULT '{}',
    id_column pg_catalog.text DEFAULT NULL,
    text_column pg_catalog.text DEFAULT NULL,
    method pg_catalog.text DEFAULT 'jaccard',
    tokenizer pg_catalog.text DEFAULT NULL,
    shingle pg_catalog.int4 DEFAULT NULL,
    multiset pg_catalog.bool DEFAULT NULL,
    max_pairs pg_catalog.int8 DEFAULT NULL,
    site_column pg_catalog.text DEFAULT NULL,
    parts pg_catalog.int4 DEFAULT NULL,
    clusters pg_catalog.text DEFAULT NULL,
    resume pg_catalog.bool DEFAULT NULL,
    incremental pg_catalog.bool DEFAULT false,
    pause pg_catalog.interval DEFAULT NULL,
    at_once pg_catalog.int4 DEFAULT NULL,
    node_timeout pg_catalog.interval DEFAULT NULL,
    retries pg_catalog.int4 DEFAULT NULL,
    within pg_catalog.text DEFAULT NULL,
    across pg_catalog.text DEFAULT NULL
)
    LANGUAGE plpgsql
AS $$
BEGIN
    CALL neardup_internal.neardup_into_steps(docs::pg_catalog.regclass, threshold::pg_catalog.float8, options::pg_catalog.jsonb, pg_catalog.jsonb_build_object(
        'id_column', id_column, 'text_column', text_column, 'method', method, 'tokenizer', tokenizer, 'shingle', shingle,
        'multiset', multiset, 'max_pairs', max_pairs, 'site_column', site_column, 'pairs', pairs, 'parts', parts,
        'clusters', clusters, 'resume', resume, 'incremental', incremental,
        'pause', pg_catalog.date_part('epoch'::pg_catalog.text, pause), 'at_once', at_once, 'node_timeout', pg_catalog.date_part('epoch'::pg_catalog.text, node_timeout), 'retries', retries,
        'within', within, 'across', across)::pg_catalog.jsonb);
END
$$;
COMMENT ON PROCEDURE near_duplicates_into(
    regclass, float8, text, jsonb, text, text, text, text, int, bool, bigint, text, int, text, bool, bool, interval, int, interval, int, text, text
) IS 'near_duplicates as a table; of a table partitioned over servers made on these, in steps that commit';

CREATE PROCEDURE partial_duplicates_into(
    docs pg_catalog.regclass,
    threshold pg_catalog.float8 DEFAULT NULL,
    passages pg_catalog.text DEFAULT NULL,
    options pg_catalog.jsonb DEFAULT '{}',
    id_column pg_catalog.text DEFAULT NULL,
    text_column pg_catalog.text DEFAULT NULL,
    features pg_catalog.text DEFAULT 'imatch',
    min_sentences pg_catalog.int4 DEFAULT 3,
    extend pg_catalog.bool DEFAULT true,
    shingle pg_catalog.int4 DEFAULT NULL,
    max_passages pg_catalog.int8 DEFAULT NULL,
    tokenizer pg_catalog.text DEFAULT NULL,
    parts pg_catalog.int4 DEFAULT NULL,
    resume pg_catalog.bool DEFAULT NULL,
    pause pg_catalog.interval DEFAULT NULL,
    at_once pg_catalog.int4 DEFAULT NULL,
    node_timeout pg_catalog.interval DEFAULT NULL,
    retries pg_catalog.int4 DEFAULT NULL,
    within pg_catalog.text DEFAULT NULL,
    across pg_catalog.text DEFAULT NULL,
    edits pg_catalog.float8 DEFAULT NULL,
    min_length pg_catalog.int4 DEFAULT NULL
)
    LANGUAGE plpgsql
AS $$
BEGIN
    CALL neardup_internal.neardup_into_steps(docs::pg_catalog.regclass, threshold::pg_catalog.float8, options::pg_catalog.jsonb, pg_catalog.jsonb_build_object(
        'id_column', id_column, 'text_column', text_column, 'features', features, 'min_sentences', min_sentences,
        'extend', extend, 'shingle', shingle, 'max_pairs', max_passages, 'tokenizer', tokenizer, 'pairs', passages,
        'parts', parts, 'resume', resume, 'passages', true,
        'pause', pg_catalog.date_part('epoch'::pg_catalog.text, pause), 'at_once', at_once, 'node_timeout', pg_catalog.date_part('epoch'::pg_catalog.text, node_timeout), 'retries', retries,
        'within', within, 'across', across, 'edits', edits, 'min_length', min_length)::pg_catalog.jsonb);
END
$$;
COMMENT ON PROCEDURE partial_duplicates_into(
    regclass, float8, text, jsonb, text, text, text, int, bool, int, bigint, text, int, bool, interval, int, interval, int, text, text,
    float8, int
) IS 'partial_duplicates as a table; of a table partitioned over servers made on these, in steps that commit';

CREATE FUNCTION neardup_into_calls() RETURNS TABLE(
    node pg_catalog.text,
    run pg_catalog.text,
    pairs pg_catalog.text,
    owner pg_catalog.text,
    status pg_catalog.text,
    step pg_catalog.int4,
    name pg_catalog.text,
    rows pg_catalog.int8,
    parts pg_catalog.int8,
    started pg_catalog.timestamptz,
    noted pg_catalog.timestamptz,
    tables pg_catalog.int8,
    bytes pg_catalog.int8
)
    AS 'MODULE_PATHNAME', 'neardup_into_calls'
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000 ROWS 10;
COMMENT ON FUNCTION neardup_into_calls() IS
    'the calls of near_duplicates_into that have a log or working tables, here and on other nodes: how far they are, and what they left';

CREATE FUNCTION neardup_into_clean(run pg_catalog.text) RETURNS pg_catalog.int8
    AS 'MODULE_PATHNAME', 'neardup_into_clean'
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION neardup_into_clean(text) IS
    'drops the working tables that a call of near_duplicates_into left, here and on other nodes, and its log unless it was finished; how many tables';

CREATE FUNCTION near_duplicates_plan(
    docs regclass,
    threshold float8 DEFAULT NULL,
    options jsonb DEFAULT '{}',
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    method text DEFAULT 'jaccard',
    tokenizer text DEFAULT NULL,
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL,
    site_column text DEFAULT NULL,
    sample bigint DEFAULT NULL,
    by_node bool DEFAULT false,
    parts int DEFAULT NULL,
    within text DEFAULT NULL,
    across text DEFAULT NULL
) RETURNS TABLE(
    using_method text,
    documents bigint,
    sampled bigint,
    sampled_pairs bigint,
    pairs bigint,
    candidates bigint,
    document_bytes bigint,
    memory bigint,
    temporary bigint,
    cpu_seconds float8,
    cheapest boolean,
    call text,
    node text,
    sent bigint,
    received bigint
)
    AS 'MODULE_PATHNAME', 'neardup_near_duplicates_plan'
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 2 COST 10000;
COMMENT ON FUNCTION near_duplicates_plan(
    regclass, float8, jsonb, text, text, text, text, int, bool, text, bigint, bool, int, text, text
) IS 'what near_duplicates with the same arguments will take, or near_duplicates_into on each node, estimated from a sample of the documents';
