-- From when due_at was planned if the read failed or was lost: claimed_at is then the last good read. Nullable, so the table is not rewritten;
-- an old replica leaves it as it is.
ALTER TABLE "session_polls" ADD COLUMN "planned_at" TIMESTAMPTZ(3);

COMMENT ON COLUMN session_polls.planned_at IS 'When a read last failed or was put off, or the claim of a worker that died. If it is later than claimed_at, due_at was planned from here. Null: never.';
