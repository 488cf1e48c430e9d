CREATE OR REPLACE VIEW admin.read_habits AS
SELECT h.brand,
       h.phase,
       CASE WHEN h.age = 0 THEN 0 ELSE round(exp(h.age / 2.0)) END AS from_seconds,
       h.changed,
       h.ended,
       sum(h.changed) OVER (PARTITION BY h.brand, h.phase) AS known_changes
  FROM public.read_habits h;
COMMENT ON VIEW admin.read_habits IS 'How long the sessions of a brand stay in a phase, as the intervals between their reads follow from it. Counted once a day.';
COMMENT ON COLUMN admin.read_habits.from_seconds IS 'The youngest age of the group, in seconds since the phase began. The oldest is 1.65 times as old.';
COMMENT ON COLUMN admin.read_habits.known_changes IS 'All changes of the brand in the phase. Its reads follow them from 200 on.';
