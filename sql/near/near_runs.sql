-- What has a run of tokens in common with a text: queries, and whether a text matches one. Bodies:
-- src/pg/functions/near/near_runs.rs.

CREATE FUNCTION shared_run(text text, min_run int DEFAULT 12, tokenizer text DEFAULT NULL, normalization text DEFAULT NULL)
    RETURNS text_runs
    AS 'MODULE_PATHNAME', 'neardup_shared_run'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION shared_run(text, int, text, text) IS
    'all texts that have so many words in a row in common with this one: WHERE body && shared_run(...)';

CREATE FUNCTION text_shares_run(value text, query text_runs) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_text_shares_run'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000 SUPPORT near_support;
COMMENT ON FUNCTION text_shares_run(text, text_runs) IS
    'whether a text has a run in common with that of a query';

CREATE FUNCTION text_runs_shared(query text_runs, value text) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_text_runs_shared'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000 SUPPORT near_support;
COMMENT ON FUNCTION text_runs_shared(text_runs, text) IS
    'whether the text of a query has a run in common with a text';

CREATE OPERATOR && (
    LEFTARG = text,
    RIGHTARG = text_runs,
    FUNCTION = text_shares_run,
    COMMUTATOR = &&,
    RESTRICT = near_selectivity,
    JOIN = near_join_selectivity
);
COMMENT ON OPERATOR && (text, text_runs) IS 'has a run in common';

CREATE OPERATOR && (
    LEFTARG = text_runs,
    RIGHTARG = text,
    FUNCTION = text_runs_shared,
    COMMUTATOR = &&,
    RESTRICT = near_selectivity,
    JOIN = near_join_selectivity
);
COMMENT ON OPERATOR && (text_runs, text) IS 'has a run in common';
