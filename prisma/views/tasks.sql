CREATE OR REPLACE VIEW admin.tasks AS
SELECT t.name, t.once, t.every_ms * interval '1 ms' AS every, t.started_at, t.ended_at, t.last_error,
       CASE WHEN t.once = 'deployment' AND t.lease_token IS NULL THEN t.due_at END AS due_at, t.lease_until
  FROM public.tasks t;
COMMENT ON VIEW admin.tasks IS 'What recurs in this deployment, one row per task: how often, and when it last ran.';
COMMENT ON COLUMN admin.tasks.every IS 'The pause between two runs. A task that asks whether it has work runs only if it has.';
COMMENT ON COLUMN admin.tasks.due_at IS 'When a task of the deployment runs again. Null while it runs, and for tasks of each process.';
COMMENT ON COLUMN admin.tasks.lease_until IS 'When the lease of the process that runs a task of the deployment ends, unless it is renewed. Null if none runs it.';
