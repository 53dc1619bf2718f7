CREATE EXTENSION pg_cron;

SELECT cron.schedule('near duplicates of docs', '0 3 * * *', $$CALL neardup.neardup_refresh('public.docs')$$);
