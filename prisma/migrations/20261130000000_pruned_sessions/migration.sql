-- Events outlive the sessions that retention deletes. To erase a user, one must know which of these sessions were the user's.

-- No foreign key to users: its lock would wait for an erasure, which waits for the sessions that retention has locked.
-- CreateTable
CREATE TABLE "pruned_sessions" (
    "session_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,

    CONSTRAINT "pruned_sessions_pkey" PRIMARY KEY ("session_id")
);

-- CreateIndex
CREATE INDEX "pruned_sessions_user_id_idx" ON "pruned_sessions"("user_id");

COMMENT ON TABLE pruned_sessions IS 'Sessions that retention has deleted, while they have events. Read when their user is erased. A row is deleted with its user''s erasure, or once the session has no events any more.';
COMMENT ON COLUMN pruned_sessions.session_id IS 'The deleted session: the subject of its events.';
COMMENT ON COLUMN pruned_sessions.user_id IS 'The user of the session.';
