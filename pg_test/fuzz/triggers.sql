-- The trigger function of jobs where it does not belong: an error that says so, or nothing; and the write goes on where
-- there is no job.
CREATE FUNCTION fuzz.add_triggers() RETURNS void LANGUAGE sql AS $$
    INSERT INTO fuzz.statements(part, statement)
    SELECT 'triggers', replace(format('%s; %s', made, used), '%s', (f.oid)::regproc::text) FROM fuzz.functions f, unnest(ARRAY[
        'CREATE TRIGGER odd BEFORE INSERT OR UPDATE OR DELETE ON w.few FOR EACH ROW EXECUTE FUNCTION %s()',
        'CREATE TRIGGER odd AFTER INSERT OR UPDATE OR DELETE ON w.few FOR EACH ROW EXECUTE FUNCTION %s()',
        'CREATE TRIGGER odd AFTER INSERT OR UPDATE OR DELETE ON w.few FOR EACH STATEMENT EXECUTE FUNCTION %s()',
        'CREATE TRIGGER odd BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON w.few FOR EACH STATEMENT EXECUTE FUNCTION %s()',
        'CREATE TRIGGER odd AFTER INSERT ON w.few REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION %s()',
        'CREATE TRIGGER odd AFTER INSERT ON w.few REFERENCING NEW TABLE AS other_name FOR EACH ROW EXECUTE FUNCTION %s()',
        'CREATE TRIGGER odd AFTER UPDATE ON w.few REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION %s()',
        'CREATE TRIGGER odd AFTER DELETE ON w.few REFERENCING OLD TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION %s(''w.watched'', ''x'')',
        'CREATE CONSTRAINT TRIGGER odd AFTER INSERT OR UPDATE OR DELETE ON w.few DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION %s()',
        'CREATE TRIGGER odd AFTER TRUNCATE ON w.few FOR EACH STATEMENT EXECUTE FUNCTION %s()',
        'CREATE TRIGGER odd INSTEAD OF INSERT OR UPDATE OR DELETE ON w.viewed FOR EACH ROW EXECUTE FUNCTION %s()',
        'CREATE TRIGGER odd AFTER INSERT OR UPDATE ON w.watched FOR EACH ROW EXECUTE FUNCTION %s()',
        'CREATE TRIGGER odd BEFORE INSERT OR DELETE ON w.watched FOR EACH STATEMENT EXECUTE FUNCTION %s()',
        'CREATE TRIGGER odd AFTER INSERT ON w.watched REFERENCING NEW TABLE AS other_name FOR EACH STATEMENT EXECUTE FUNCTION %s()',
        'CREATE TRIGGER odd AFTER INSERT ON w.compared FOR EACH STATEMENT EXECUTE FUNCTION %s()',
        'CREATE TRIGGER odd AFTER INSERT ON w.watched_pairs REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION %s()',
        'CREATE TRIGGER odd AFTER INSERT ON w.watched_neardup REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION %s()',
        'CREATE TRIGGER odd AFTER INSERT ON w.parted REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION %s()',
        'CREATE TRIGGER odd AFTER INSERT ON w.parted FOR EACH ROW EXECUTE FUNCTION %s()',
        'CREATE TRIGGER odd AFTER INSERT ON w.two_keys REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION %s()',
        'CREATE TRIGGER odd AFTER INSERT ON w.no_columns REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION %s()',
        'CREATE TRIGGER odd AFTER INSERT ON temporary REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION %s()',
        'SELECT %s()', 'CREATE EVENT TRIGGER odd ON ddl_command_end EXECUTE FUNCTION %s()',
        'ALTER TABLE w.watched RENAME body TO renamed; SELECT 1 /* %s */', 'ALTER TABLE w.watched RENAME id TO renamed; SELECT 1 /* %s */', 'ALTER TABLE w.watched ALTER id TYPE bigint; SELECT 1 /* %s */']) made,
        unnest(ARRAY['INSERT INTO w.few VALUES (9, ''x''); UPDATE w.few SET body = ''y''; DELETE FROM w.few; TRUNCATE w.few', 'INSERT INTO w.viewed VALUES (9, ''x''); UPDATE w.viewed SET body = ''y''; DELETE FROM w.viewed',
            'INSERT INTO w.watched VALUES (9, ''x''); UPDATE w.watched SET (id, body) = (7, ''y'') WHERE id = 1; DELETE FROM w.watched', 'TRUNCATE w.watched; INSERT INTO w.watched SELECT * FROM w.few', 'MERGE INTO w.watched t USING w.few f ON f.id = t.id + 2 WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (f.id + 100, f.body)',
            'INSERT INTO w.watched VALUES (1, ''x'') ON CONFLICT (id) DO UPDATE SET body = ''z''', 'INSERT INTO w.compared VALUES (9, ''x'')', 'INSERT INTO w.parted VALUES (9, ''x''), (-4, ''y'')', 'INSERT INTO w.two_keys VALUES (9, 9, ''x'')', 'INSERT INTO w.no_columns DEFAULT VALUES', 'INSERT INTO temporary VALUES (9, ''x'')', 'INSERT INTO w.watched_pairs VALUES (1, 2, 3)', 'INSERT INTO w.watched_neardup SELECT 1']) used
    -- Only what writes to the table of the trigger.
    WHERE (f.f).prorettype = 'trigger'::regtype AND coalesce(substring(made FROM ' (?:ON|TABLE) (w\.\w+|temporary)'), 'w.few') IN (SELECT m[1] FROM regexp_matches(used, '(?:INTO|UPDATE|FROM|TRUNCATE) (w\.\w+|temporary)', 'g') m)
    ORDER BY made, used
$$;
