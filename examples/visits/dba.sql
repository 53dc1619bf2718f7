-- A DBA was asked for the extension by somebody else.
-- The aim: it is where no other role can put anything in its way, it runs nothing with rights of its own, the role that asked
-- for it has its bounds, and what it does is seen.

-- Given
CREATE TABLE docs (id bigint PRIMARY KEY, body text);
INSERT INTO docs SELECT i, 'Record ' || i / 2 || ' of the archive, as it was typed in again on day ' || i / 2 FROM generate_series(1, 100) i;
CREATE ROLE analysts;

-- 1. README.md, docs/README.md, docs/operations/dba.md
CREATE SCHEMA tools;

-- 2. docs/operations/dba.md
CREATE EXTENSION neardup SCHEMA tools;

-- 3. docs/operations/dba.md
GRANT USAGE ON SCHEMA tools TO PUBLIC;

-- 4. docs/operations/dba.md
SET search_path = public, tools;

-- 5. docs/operations/dba.md
SELECT count(*) FILTER (WHERE prosecdef) AS "security definer", count(*) > 0 AS functions
FROM pg_proc JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = pg_proc.oid AND d.deptype = 'e'
JOIN pg_extension e ON e.oid = d.refobjid WHERE e.extname = 'neardup';

-- 6. docs/operations/dba.md
ALTER ROLE analysts SET neardup.memory = '256MB';

-- 7. docs/operations/dba.md
ALTER ROLE analysts SET statement_timeout = '1h';

-- 8. docs/operations/dba.md
SELECT neardup_watch('docs', 0.8);

-- 9. docs/operations/dba.md
CALL neardup_refresh('docs');

-- 10. docs/operations/dba.md
SELECT call, docs, status, phase, percent, memory, last_finished IS NOT NULL AS finished FROM neardup_activity;

-- Reached: in tools, others may not create there, bounds 2, docs is done
SELECT format('in %s, others %s create there, bounds %s, %s is %s', extnamespace::regnamespace,
    CASE WHEN has_schema_privilege('analysts', extnamespace, 'CREATE') THEN 'may' ELSE 'may not' END,
    (SELECT cardinality(rolconfig) FROM pg_roles WHERE rolname = 'analysts'), a.docs, a.status)
FROM pg_extension, tools.neardup_activity a WHERE extname = 'neardup';
