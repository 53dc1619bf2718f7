-- All that the catalogues have of the extension, a line each, sorted: what of two databases in which it is the same, gives
-- the same lines. Rows come whole, as JSON, so that none of their columns is forgotten; numbers become names, and what says
-- only when and where something was made is left out.
SET search_path = pg_catalog;

-- The members, what belongs to them (columns, constraints, indexes, rules, types of rows, entries of operator families),
-- and no more: what is of users depends on them in another way.
CREATE TEMP VIEW objects AS
    WITH RECURSIVE objects(classid, objid) AS (
        SELECT 'pg_extension'::regclass::oid, oid FROM pg_extension WHERE extname = 'neardup'
        UNION
        SELECT d.classid, d.objid FROM objects o JOIN pg_depend d ON d.refclassid = o.classid AND d.refobjid = o.objid
        WHERE d.deptype = ANY (CASE WHEN o.classid = 'pg_extension'::regclass THEN '{e}' ELSE '{i,a,P,S}' END::"char"[])
            -- Tables of long values have a number in their name.
            AND NOT EXISTS (SELECT FROM pg_class c WHERE d.classid = 'pg_class'::regclass AND c.oid = d.objid AND c.relkind = 't')
    )
    SELECT * FROM objects;

CREATE FUNCTION pg_temp.names(acl aclitem[]) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(a::text, ' ' ORDER BY a::text) FROM unnest(acl) a
$$;

CREATE TEMP VIEW lines(kind, name, what) AS
    SELECT 'extension', extname, to_jsonb(e) - '{oid}'::text[] || jsonb_build_object(
        'extowner', extowner::regrole, 'extnamespace', extnamespace::regnamespace, 'extconfig', extconfig::regclass[])
    FROM pg_extension e WHERE extname = 'neardup'
    UNION ALL
    SELECT 'function', oid::regprocedure::text, to_jsonb(p) - '{oid}'::text[] || jsonb_build_object(
        'pronamespace', pronamespace::regnamespace, 'proowner', proowner::regrole, 'prolang', (SELECT lanname FROM pg_language l WHERE l.oid = prolang),
        'provariadic', provariadic::regtype, 'prosupport', prosupport::regprocedure, 'prorettype', prorettype::regtype,
        'proargtypes', proargtypes::regtype[], 'proallargtypes', proallargtypes::regtype[], 'protrftypes', protrftypes::regtype[],
        'proargdefaults', pg_get_expr(proargdefaults, 0), 'prosqlbody', pg_get_function_sqlbody(oid), 'proacl', pg_temp.names(proacl))
    FROM objects JOIN pg_proc p ON classid = 'pg_proc'::regclass AND objid = p.oid
    UNION ALL
    SELECT 'type', format_type(oid, NULL), to_jsonb(t) - '{oid}'::text[] || jsonb_build_object(
        'typnamespace', typnamespace::regnamespace, 'typowner', typowner::regrole, 'typrelid', typrelid::regclass,
        'typsubscript', typsubscript::regprocedure, 'typelem', typelem::regtype, 'typarray', typarray::regtype,
        'typinput', typinput::regprocedure, 'typoutput', typoutput::regprocedure, 'typreceive', typreceive::regprocedure,
        'typsend', typsend::regprocedure, 'typmodin', typmodin::regprocedure, 'typmodout', typmodout::regprocedure,
        'typanalyze', typanalyze::regprocedure, 'typbasetype', typbasetype::regtype, 'typdefaultbin', pg_get_expr(typdefaultbin, 0),
        'typcollation', typcollation::regcollation, 'typacl', pg_temp.names(typacl))
    FROM objects JOIN pg_type t ON classid = 'pg_type'::regclass AND objid = t.oid
    UNION ALL
    SELECT 'operator', oid::regoperator::text, to_jsonb(o) - '{oid}'::text[] || jsonb_build_object(
        'oprnamespace', oprnamespace::regnamespace, 'oprowner', oprowner::regrole, 'oprleft', oprleft::regtype, 'oprright', oprright::regtype,
        'oprresult', oprresult::regtype, 'oprcom', oprcom::regoperator, 'oprnegate', oprnegate::regoperator, 'oprcode', oprcode::regprocedure,
        'oprrest', oprrest::regprocedure, 'oprjoin', oprjoin::regprocedure)
    FROM objects JOIN pg_operator o ON classid = 'pg_operator'::regclass AND objid = o.oid
    UNION ALL
    SELECT 'access method', amname, to_jsonb(a) - '{oid}'::text[] || jsonb_build_object('amhandler', amhandler::regprocedure)
    FROM objects JOIN pg_am a ON classid = 'pg_am'::regclass AND objid = a.oid
    UNION ALL
    SELECT 'operator family', pg_describe_object(classid, objid, 0), to_jsonb(f) - '{oid,opfmethod}'::text[] || jsonb_build_object(
        'opfnamespace', opfnamespace::regnamespace, 'opfowner', opfowner::regrole)
    FROM objects JOIN pg_opfamily f ON classid = 'pg_opfamily'::regclass AND objid = f.oid
    UNION ALL
    SELECT 'operator class', pg_describe_object(classid, objid, 0), to_jsonb(c) - '{oid,opcmethod}'::text[] || jsonb_build_object(
        'opcnamespace', opcnamespace::regnamespace, 'opcowner', opcowner::regrole, 'opcintype', opcintype::regtype,
        'opcfamily', pg_describe_object('pg_opfamily'::regclass, opcfamily, 0), 'opckeytype', opckeytype::regtype)
    FROM objects JOIN pg_opclass c ON classid = 'pg_opclass'::regclass AND objid = c.oid
    UNION ALL
    SELECT 'operator of family', pg_describe_object('pg_amop'::regclass, m.oid, 0), to_jsonb(m) - '{oid,amopfamily,amopmethod}'::text[] || jsonb_build_object(
        'amoplefttype', amoplefttype::regtype, 'amoprighttype', amoprighttype::regtype, 'amopopr', amopopr::regoperator,
        'amopsortfamily', pg_describe_object('pg_opfamily'::regclass, nullif(amopsortfamily, 0), 0))
    FROM objects JOIN pg_amop m ON classid = 'pg_opfamily'::regclass AND objid = amopfamily
    UNION ALL
    SELECT 'function of family', pg_describe_object('pg_amproc'::regclass, m.oid, 0), to_jsonb(m) - '{oid,amprocfamily}'::text[] || jsonb_build_object(
        'amproclefttype', amproclefttype::regtype, 'amprocrighttype', amprocrighttype::regtype, 'amproc', amproc::regprocedure)
    FROM objects JOIN pg_amproc m ON classid = 'pg_opfamily'::regclass AND objid = amprocfamily
    UNION ALL
    SELECT 'cast', pg_describe_object(classid, objid, 0), to_jsonb(c) - '{oid}'::text[] || jsonb_build_object(
        'castsource', castsource::regtype, 'casttarget', casttarget::regtype, 'castfunc', castfunc::regprocedure)
    FROM objects JOIN pg_cast c ON classid = 'pg_cast'::regclass AND objid = c.oid
    UNION ALL
    SELECT 'schema', nspname, to_jsonb(n) - '{oid}'::text[] || jsonb_build_object('nspowner', nspowner::regrole, 'nspacl', pg_temp.names(nspacl))
    FROM objects JOIN pg_namespace n ON classid = 'pg_namespace'::regclass AND objid = n.oid
    UNION ALL
    SELECT 'relation', oid::regclass::text,
        to_jsonb(c) - '{oid,relfilenode,relpages,reltuples,relallvisible,relallfrozen,relfrozenxid,relminmxid,relhasindex,relhastriggers}'::text[]
        || jsonb_build_object('relnamespace', relnamespace::regnamespace, 'relowner', relowner::regrole, 'reltype', reltype::regtype,
            'reloftype', reloftype::regtype, 'relam', (SELECT amname FROM pg_am a WHERE a.oid = relam), 'reltoastrelid', reltoastrelid <> 0,
            'relrewrite', relrewrite <> 0, 'relacl', pg_temp.names(relacl),
            'view', CASE WHEN relkind = 'v' THEN pg_get_viewdef(oid) END, 'index', CASE WHEN relkind = 'i' THEN pg_get_indexdef(oid) END)
    FROM objects JOIN pg_class c ON classid = 'pg_class'::regclass AND objid = c.oid
    UNION ALL
    -- Places count without columns that were dropped; pg_attver is a version that the server counts.
    SELECT 'column', attrelid::regclass || '.' || attname, to_jsonb(a) - '{attrelid,atthasmissing,attmissingval,attcacheoff}'::text[]
        || jsonb_build_object('atttypid', format_type(atttypid, atttypmod), 'attcollation', attcollation::regcollation, 'attacl', pg_temp.names(attacl),
            'attoptions', (SELECT jsonb_agg(option) FROM unnest(attoptions) option WHERE option !~ '^pg_attver='),
            'attnum', (SELECT count(*) FROM pg_attribute b WHERE b.attrelid = a.attrelid AND b.attnum BETWEEN 1 AND a.attnum AND NOT b.attisdropped),
            'default', (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef d WHERE d.adrelid = attrelid AND adnum = attnum))
    FROM objects JOIN pg_class c ON classid = 'pg_class'::regclass AND objid = c.oid AND relkind <> 'i'
        JOIN pg_attribute a ON attrelid = c.oid AND attnum > 0 AND NOT attisdropped
    UNION ALL
    SELECT 'constraint', pg_describe_object(classid, objid, 0), jsonb_build_array(conname, contype, condeferrable, condeferred, convalidated, pg_get_constraintdef(c.oid))
    FROM objects JOIN pg_constraint c ON classid = 'pg_constraint'::regclass AND objid = c.oid
    UNION ALL
    SELECT 'trigger', pg_describe_object(classid, objid, 0), jsonb_build_array(tgenabled, pg_get_triggerdef(t.oid))
    FROM objects JOIN pg_trigger t ON classid = 'pg_trigger'::regclass AND objid = t.oid
    UNION ALL
    SELECT 'policy', pg_describe_object(classid, objid, 0), to_jsonb(p) - '{oid,polrelid}'::text[]
        || jsonb_build_object('polroles', polroles::regrole[], 'polqual', pg_get_expr(polqual, polrelid), 'polwithcheck', pg_get_expr(polwithcheck, polrelid))
    FROM objects JOIN pg_policy p ON classid = 'pg_policy'::regclass AND objid = p.oid
    UNION ALL
    SELECT 'other', pg_describe_object(classid, objid, 0), NULL
    FROM objects WHERE classid <> ALL ('{pg_extension,pg_proc,pg_type,pg_operator,pg_am,pg_opfamily,pg_opclass,pg_cast,pg_namespace,pg_class,pg_constraint,pg_trigger,pg_policy}'::regclass[])
    UNION ALL
    SELECT 'comment', pg_describe_object(d.classoid, d.objoid, d.objsubid), to_jsonb(description)
    FROM objects o JOIN pg_description d ON d.classoid = o.classid AND d.objoid = o.objid
    UNION ALL
    -- What pg_dump takes for given.
    SELECT 'first privileges', pg_describe_object(i.classoid, i.objoid, i.objsubid), to_jsonb(pg_temp.names(initprivs))
    FROM objects o JOIN pg_init_privs i ON i.classoid = o.classid AND i.objoid = o.objid
    UNION ALL
    SELECT 'dependency', pg_describe_object(d.classid, d.objid, d.objsubid), jsonb_build_array(deptype, pg_describe_object(refclassid, refobjid, refobjsubid))
    FROM objects o JOIN pg_depend d ON d.classid = o.classid AND d.objid = o.objid;

SELECT concat_ws(' ', kind, name, what) COLLATE "C" AS line FROM lines ORDER BY line;
