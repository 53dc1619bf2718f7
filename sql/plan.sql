-- Bands and rows of minhash. Body: src/pg/functions/plan.rs.

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
