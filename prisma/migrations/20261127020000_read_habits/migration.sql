-- How long sessions of each brand stay in a phase, so that they are read when a change is likely. Counts alone: an erasure leaves them.
CREATE TABLE "read_habits" (
    "brand" TEXT NOT NULL,
    "phase" TEXT NOT NULL,
    "age" SMALLINT NOT NULL,
    "changed" INTEGER NOT NULL,
    "ended" INTEGER NOT NULL,
    "seconds" DOUBLE PRECISION NOT NULL,
    CONSTRAINT "read_habits_pkey" PRIMARY KEY ("brand", "phase", "age"),
    CONSTRAINT "read_habits_phase_is_learned" CHECK ("phase" IN ('awaiting_owner', 'awaiting_installation', 'late')),
    CONSTRAINT "read_habits_counts_fit" CHECK ("changed" BETWEEN 0 AND "ended" AND "age" >= 0 AND "seconds" >= 0)
);
ALTER TABLE "read_price" ADD COLUMN "habits_after" TIMESTAMPTZ(3);

COMMENT ON TABLE read_habits IS 'How long the sessions of a brand stayed in a phase, counted from session_transitions once a day, by groups of ages. Two groups for each factor e.';
COMMENT ON COLUMN read_habits.brand IS 'The brand of the sessions. Empty: none.';
COMMENT ON COLUMN read_habits.phase IS 'Why the sessions were watched: awaiting_owner, awaiting_installation, or late (expired or lost).';
COMMENT ON COLUMN read_habits.age IS 'The group of ages: twice the natural logarithm of the seconds since the phase began, rounded down.';
COMMENT ON COLUMN read_habits.changed IS 'Stays in the phase that ended at this age by a change that somebody waits for.';
COMMENT ON COLUMN read_habits.ended IS 'Stays in the phase that ended at this age, or have reached it and go on.';
COMMENT ON COLUMN read_habits.seconds IS 'How long the stays in ended lasted beyond the youngest age of the group, added up.';
COMMENT ON COLUMN read_price.habits_after IS 'When read_habits is counted again. Null before the first time.';

CREATE VIEW admin.read_habits AS
SELECT nullif(h.brand, '') AS brand,
       h.phase,
       CASE WHEN h.age = 0 THEN 0 ELSE round(exp(h.age / 2.0)) END AS from_seconds,
       h.changed,
       h.ended,
       sum(h.changed) OVER (PARTITION BY h.brand, h.phase) AS known_changes
  FROM public.read_habits h;
COMMENT ON VIEW admin.read_habits IS 'How long the sessions of a brand stay in a phase, as the intervals between their reads follow from it. Counted once a day.';
COMMENT ON COLUMN admin.read_habits.brand IS 'The brand of the sessions. Null: none.';
COMMENT ON COLUMN admin.read_habits.phase IS 'Why the sessions were watched: awaiting_owner, awaiting_installation, or late (expired or lost).';
COMMENT ON COLUMN admin.read_habits.from_seconds IS 'The youngest age of the group, in seconds since the phase began. The oldest is 1.65 times as old.';
COMMENT ON COLUMN admin.read_habits.changed IS 'Stays in the phase that ended at this age by a change that somebody waits for.';
COMMENT ON COLUMN admin.read_habits.ended IS 'Stays in the phase that ended at this age, or have reached it and go on.';
COMMENT ON COLUMN admin.read_habits.known_changes IS 'All changes of the brand in the phase. Its reads follow them from 200 on.';

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pv_onboarding_reader')
     AND has_schema_privilege('pv_onboarding_reader', 'admin', 'USAGE') THEN
    GRANT SELECT ON admin.read_habits TO pv_onboarding_reader;
  END IF;
END $$;
