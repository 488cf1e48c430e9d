-- What the remote service says once is not believed when it would end a watch, and not recorded when it changes at every read.
-- The columns are null or 0 until then: adding them rewrites no row, and a replica of the previous release need not know them.
ALTER TABLE "session_polls"
  ADD COLUMN "facts_hash" BYTEA,
  ADD COLUMN "answer_kept_at" TIMESTAMPTZ(3),
  ADD COLUMN "ending_since" TIMESTAMPTZ(3),
  ADD COLUMN "ending_reads" INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN "changes_clear_at" TIMESTAMPTZ(3),
  ADD COLUMN "flapping_since" TIMESTAMPTZ(3);

COMMENT ON COLUMN session_polls.facts_hash IS 'SHA-1 of what the last answer says in documented fields, so that one that differs in other bytes only is nothing new. Null until the first read, and after an answer without a body.';
COMMENT ON COLUMN session_polls.answer_kept_at IS 'When the last row of session_observations was written. An answer that says the same in other bytes takes its place once an hour.';
COMMENT ON COLUMN session_polls.ending_since IS 'Since when every read has given a reason to close the session that is not believed until it has lasted (src/onboarding/rules/ending.rules.ts). Null while there is none.';
COMMENT ON COLUMN session_polls.ending_reads IS 'How many reads in a row gave that reason.';
COMMENT ON COLUMN session_polls.changes_clear_at IS 'When all changes counted against the limit are forgotten (src/onboarding/rules/flapping.rules.ts). Null before the first.';
COMMENT ON COLUMN session_polls.flapping_since IS 'Since when changes beyond the limit are held back, announced as session.flapping. Set back to null by the first change after an hour without any.';
COMMENT ON COLUMN session_polls.answer_hash IS 'SHA-1 of the last answer that was kept, so that the same bytes cost nothing. Null until the first read.';
COMMENT ON COLUMN onboarding_sessions.state IS
  'What the flags mean: awaiting_owner, awaiting_installation, online, expired, lost (404 or 410 repeatedly, on every path; watched for some hours more), unrecognised (flags that the interface does not describe, or more inverters than a session can have). An online session stays online; an expired or lost one may still come online.';
COMMENT ON COLUMN onboarding_sessions.close_reason IS
  'settled: online, and SETTLE_HOURS are over. late_window_over: expired (or past expires_at), and LATE_ONLINE_DAYS are over. lost: gone at the remote service for hours. erased: its user was, which takes the place of an earlier reason. Null while it is watched.';

COMMENT ON TABLE session_observations IS
  'Responses of the remote service about a session that differed from the one before in what is read, whole but for startUrl. The last is replaced, once an hour, by one that differs in other bytes only. When a rule of the machine changes, history is judged anew from here. Deleted when the user is erased, since a field that nobody knows may hold anything.';

-- startUrl is kept where one odd response may have hidden an open flow; it is returned only while the state is open.
ALTER TABLE "onboarding_sessions" DROP CONSTRAINT "onboarding_sessions_start_url_only_while_open";
ALTER TABLE "onboarding_sessions" ADD CONSTRAINT "onboarding_sessions_start_url_only_while_open"
  CHECK ("start_url_ciphertext" IS NULL OR ("state" NOT IN ('online', 'expired') AND "closed_at" IS NULL)) NOT VALID;
ALTER TABLE "onboarding_sessions" VALIDATE CONSTRAINT "onboarding_sessions_start_url_only_while_open";
COMMENT ON COLUMN onboarding_sessions.start_url_ciphertext IS 'startUrl, a bearer capability, encrypted with a key of ENCRYPTION_KEYS and bound to this row. Kept until the session is online, expired or closed.';

-- The same columns; stuck_reason and waiting_for know the new circumstances.
CREATE OR REPLACE VIEW admin.sessions AS
SELECT s.id AS session_id,
       u.tenant_reference,
       s.user_id,
       s.grid_location_id,
       g.ean,
       s.brand,
       s.state,
       s.basis,
       s.rule,
       s.finished,
       s.active,
       s.expired,
       CASE
         WHEN s.closed_at IS NOT NULL THEN NULL
         WHEN s.state = 'awaiting_owner' THEN 'the owner, to finish the web flow'
         WHEN s.rule = 'inverters_before_finished' THEN 'the remote service, to call it finished: inverters are listed already'
         WHEN s.state = 'awaiting_installation' THEN 'the installation, to come online: the owner seems to have finished'
         WHEN s.state = 'online' THEN 'further inverters, until it is settled'
         WHEN s.state = 'expired' THEN 'an installation that comes online late'
         WHEN s.state = 'unrecognised' THEN 'an answer that the interface describes'
         WHEN s.state = 'lost' THEN 'the remote service, to know it again'
       END AS waiting_for,
       -- In the order in which one hides the other. A minute, five minutes, three failures: what passes by itself is not stuck.
       -- last_error is of the last read only while claimed_at was set back to checked_at (see session_polls.last_error).
       CASE
         WHEN s.closed_at IS NOT NULL THEN NULL
         WHEN p.session_id IS NULL THEN 'nobody watches it: it is not closed, and has no row in session_polls'
         WHEN b.lease_until < now() - interval '1 minute' THEN format(
           'its reader (%s) died, and no other worker has taken over since %s', b.worker, b.lease_until)
         WHEN p.not_found >= 2 THEN format('the last %s reads found it on no path (404 or 410)', p.not_found)
         WHEN p.failures >= 3 THEN format('the last %s reads failed: %s', p.failures, coalesce(p.last_error, 'for no recorded reason'))
         WHEN p.last_error IS NOT NULL AND (b.id IS NOT NULL OR p.claimed_at = p.checked_at) AND p.checked_at < now() - interval '5 minutes'
           THEN format('it could not be read since %s: %s', p.checked_at, p.last_error)
         WHEN b.id IS NULL AND p.due_at < now() - interval '5 minutes' THEN format(
           'its read is overdue by %s minutes: see admin.poll_lag', floor(extract(epoch FROM now() - p.due_at) / 60))
         WHEN p.flapping_since IS NOT NULL AND p.changes_clear_at > now() THEN format(
           'what the remote service says of it has been changing too often since %s; not every change is recorded', p.flapping_since)
         WHEN s.rule = 'too_many_inverters' THEN 'the remote service lists more inverters than a session can have'
         WHEN s.state = 'unrecognised' THEN format(
           'the remote service answers what the interface does not describe: finished=%s, active=%s, expired=%s',
           s.finished::text, s.active::text, coalesce(s.expired::text, 'absent'))
         WHEN s.state IN ('awaiting_owner', 'awaiting_installation') AND s.expires_at < now() THEN format(
           'it was to expire at %s, and the remote service has not called it expired', s.expires_at)
       END AS stuck_reason,
       (SELECT count(*) FROM public.inverters i WHERE i.session_id = s.id) AS inverters,
       (SELECT count(*) FROM public.inverters i WHERE i.session_id = s.id AND i.missing_since IS NOT NULL) AS inverters_missing,
       s.created_at,
       s.updated_at,
       s.expires_at,
       s.recorded_at,
       s.state_changed_at,
       (SELECT min(t.at) FROM public.session_transitions t WHERE t.session_id = s.id AND t.to_state = 'online') AS online_at,
       s.changed_at,
       s.superseded_at,
       CASE WHEN p.session_id IS NULL THEN s.last_checked_at
            WHEN b.id IS NULL THEN p.claimed_at
            ELSE p.checked_at END AS checked_at,
       p.due_at AS next_check_at,
       b.id IS NOT NULL AS being_read,
       p.phase,
       p.failures,
       p.not_found,
       CASE WHEN b.id IS NOT NULL OR p.claimed_at = p.checked_at THEN p.last_error END AS last_error,
       s.closed_at,
       s.close_reason
  FROM public.onboarding_sessions s
  LEFT JOIN public.users u ON u.id = s.user_id
  LEFT JOIN public.grid_locations g ON g.id = s.grid_location_id
  LEFT JOIN public.session_polls p ON p.session_id = s.id
  LEFT JOIN public.poll_batches b ON b.id = p.batch_id;
