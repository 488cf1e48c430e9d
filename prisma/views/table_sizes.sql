CREATE OR REPLACE VIEW admin.table_sizes AS
SELECT c.relname::text AS name,
       -- -1 until the first vacuum or analyze.
       CASE WHEN c.reltuples < 0 THEN s.n_live_tup ELSE c.reltuples::bigint END AS estimated_rows,
       size.total - size.indexes - size.toast AS table_bytes,
       size.indexes AS index_bytes,
       size.toast AS toast_bytes,
       size.total AS total_bytes,
       s.n_dead_tup AS dead_rows,
       s.last_autovacuum
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_catalog.pg_stat_all_tables s ON s.relid = c.oid
 CROSS JOIN LATERAL (
       SELECT pg_total_relation_size(c.oid) AS total,
              pg_indexes_size(c.oid) AS indexes,
              CASE c.reltoastrelid WHEN 0 THEN 0 ELSE pg_total_relation_size(c.reltoastrelid) END AS toast
       ) AS size
 WHERE n.nspname = 'public' AND c.relkind = 'r'
 ORDER BY size.total DESC;
COMMENT ON VIEW admin.table_sizes IS 'What each table of the service takes on disk, largest first.';
COMMENT ON COLUMN admin.table_sizes.name IS 'The table.';
COMMENT ON COLUMN admin.table_sizes.estimated_rows IS 'Rows as of the last vacuum or analyze, before the first as counted by the statistics.';
COMMENT ON COLUMN admin.table_sizes.table_bytes IS 'The rows, without long values that are stored outside them (toast_bytes), and without indexes.';
COMMENT ON COLUMN admin.table_sizes.index_bytes IS 'All indexes of the table.';
COMMENT ON COLUMN admin.table_sizes.toast_bytes IS 'Long values that are stored outside the rows, with their index. 0 if the table cannot have any.';
COMMENT ON COLUMN admin.table_sizes.total_bytes IS 'table_bytes, index_bytes and toast_bytes together.';
COMMENT ON COLUMN admin.table_sizes.dead_rows IS 'Estimated deleted and replaced rows that the next vacuum makes reusable.';
COMMENT ON COLUMN admin.table_sizes.last_autovacuum IS 'When an autovacuum last completed. Null: never since the statistics were reset.';
