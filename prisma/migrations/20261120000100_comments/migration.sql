-- What every table and column means, who writes it, in which unit, and what a null says. "Interface" is the description of the
-- Solar Curtailment Service (SCS), "the remote service" is the SCS itself. Times are UTC instants (timestamptz), to the
-- millisecond; unless a comment says "by the remote clock", they are by the clock of this database.

COMMENT ON TABLE users IS
  'Users as the remote service confirmed them, under its ids (interface 2.3, 4.2). A row means that the user exists there. Written when a registration succeeds or a person resolves one. Holds personal data.';
COMMENT ON COLUMN users.id IS 'User id given by the remote service; the same in both systems.';
COMMENT ON COLUMN users.tenant_reference IS 'The tenant''s own name for the user (customer number or the like), as sent and confirmed. One user per reference.';
COMMENT ON COLUMN users.tenant_name IS 'Name of the tenant that owns the user, as the remote service answered it.';
COMMENT ON COLUMN users.first_name IS 'As the remote service answered it; empty in the interface''s sample. Personal data.';
COMMENT ON COLUMN users.last_name IS 'As the remote service answered it; empty in the interface''s sample. Personal data.';
COMMENT ON COLUMN users.email IS 'As the remote service answered it; empty in the interface''s sample. Personal data.';
COMMENT ON COLUMN users.metadata IS 'JSON object of the tenant''s own, given at registration, never sent to the remote service. May hold personal data.';
COMMENT ON COLUMN users.created_at IS 'createdAt of the remote service, by the remote clock.';
COMMENT ON COLUMN users.updated_at IS 'updatedAt of the remote service at the time of registration, by the remote clock. The interface has no call to read a user again.';
COMMENT ON COLUMN users.registered_at IS 'When we recorded the confirmed user.';

COMMENT ON TABLE grid_locations IS
  'Grid connections of users, under the ids of the remote service (interface 2.4). Written with their user, unchanged afterwards.';
COMMENT ON COLUMN grid_locations.id IS 'Grid location id given by the remote service; what a session is started for (interface 4.3).';
COMMENT ON COLUMN grid_locations.user_id IS 'The user it belongs to.';
COMMENT ON COLUMN grid_locations.ean IS 'Grid connection identifier: 18 digits, as text, because an 18-digit JSON number loses digits in most readers.';

COMMENT ON TABLE registrations IS
  'What a tenant asked for: one row per wish to register a user, committed before the remote service is called. It has no call to look a user up and no idempotency key, so this row is all there is to tell what was sent.';
COMMENT ON COLUMN registrations.id IS 'Our id, the one in /registrations/{id}.';
COMMENT ON COLUMN registrations.tenant_reference IS 'The tenant''s own name for the user to be. At most one pending, registered or uncertain registration per reference.';
COMMENT ON COLUMN registrations.eans IS 'EANs of the grid locations to be registered, 18 digits each, as asked for.';
COMMENT ON COLUMN registrations.metadata IS 'JSON object of the tenant''s own, copied to the user once registered. May hold personal data.';
COMMENT ON COLUMN registrations.status IS
  'pending: not sent yet, or turned away without effect; tried again by itself at next_attempt_at. registered: the remote service confirmed it, or a person did. rejected: it refused (4xx), no effect. uncertain: sent, and the answer was lost or unclear; never sent again by itself, a person decides. discarded: a person gave it up.';
COMMENT ON COLUMN registrations.user_id IS 'The user it led to. Null until registered, and again once that user has been erased.';
COMMENT ON COLUMN registrations.attempts IS 'How many calls were begun for it; numbers them, so that a late answer is known by its number.';
COMMENT ON COLUMN registrations.last_error IS 'Why the last call did not end in registered, without secrets; may quote the remote service. Null when none has failed.';
COMMENT ON COLUMN registrations.next_attempt_at IS 'When a pending registration is sent next. Null while it is being sent, and in every other status.';
COMMENT ON COLUMN registrations.lease_token IS 'Random id of the call that is being made now. Null when none is.';
COMMENT ON COLUMN registrations.lease_until IS 'Renewed while the sender lives; after this it counts as dead, and a worker makes the registration uncertain. Null when no call is being made.';
COMMENT ON COLUMN registrations.sent_at IS 'When the last call was begun. Null when it is known that it did not go out, and after a person''s retry.';
COMMENT ON COLUMN registrations.created_at IS 'When the tenant asked.';
COMMENT ON COLUMN registrations.updated_at IS 'When anything in this row changed last.';

COMMENT ON TABLE session_starts IS
  'Requests to start a session: committed before the remote service is called, so that a double click is one call and a lost answer is counted.';
COMMENT ON COLUMN session_starts.id IS 'Our id of the request.';
COMMENT ON COLUMN session_starts.grid_location_id IS 'The grid location to start a session for.';
COMMENT ON COLUMN session_starts.brand IS 'Inverter brand that the tenant named; never sent to the remote service. Null when none was named, which counts as a brand of its own.';
COMMENT ON COLUMN session_starts.status IS 'sending: being called now, at most one per location and brand. started: led to session_id. failed: gave up, see last_error.';
COMMENT ON COLUMN session_starts.attempts IS 'How often the start was sent to the remote service.';
COMMENT ON COLUMN session_starts.orphans IS
  'How many of the attempts had no readable answer: each may have left a session at the remote service that nobody knows the id of. It expires there unused.';
COMMENT ON COLUMN session_starts.session_id IS 'The session it led to. Null unless started.';
COMMENT ON COLUMN session_starts.last_error IS 'Why the last attempt did not succeed, without secrets. Null when there was no failure.';
COMMENT ON COLUMN session_starts.lease_token IS 'Random id of the replica''s attempt; an answer is saved only under the same token.';
COMMENT ON COLUMN session_starts.lease_until IS 'After this a sending attempt counts as dead, and the next request for the same location and brand takes it over.';
COMMENT ON COLUMN session_starts.created_at IS 'When the tenant asked.';
COMMENT ON COLUMN session_starts.updated_at IS 'When anything in this row changed last.';

COMMENT ON TABLE onboarding_sessions IS
  'PV onboarding sessions as last observed (interface 2.5, 3). Written at the start and whenever an answer changed something, never at a read that brought nothing new: for when a session was last read, see session_polls.';
COMMENT ON COLUMN onboarding_sessions.id IS 'sessionId given by the remote service; the same in both systems.';
COMMENT ON COLUMN onboarding_sessions.user_id IS 'The user whose grid location it is.';
COMMENT ON COLUMN onboarding_sessions.grid_location_id IS 'The grid location it was started for.';
COMMENT ON COLUMN onboarding_sessions.brand IS 'Inverter brand that the tenant named at the start; the remote service neither takes nor answers it. Null when none was named.';
COMMENT ON COLUMN onboarding_sessions.metadata IS 'JSON object of the tenant''s own, given at the start, copied into the events. May hold personal data.';
COMMENT ON COLUMN onboarding_sessions.state IS
  'What the flags mean: awaiting_owner, awaiting_installation, online, expired, lost (404 or 410 repeatedly, on every path), unrecognised (flags that the interface does not describe). An online session stays online; an expired one may still come online.';
COMMENT ON COLUMN onboarding_sessions.basis IS 'observed: the remote service said so. inferred: we conclude it; only awaiting_installation is, since no flag says that the owner has finished.';
COMMENT ON COLUMN onboarding_sessions.rule IS 'Name of the rule that decided the state (src/onboarding/machine.ts).';
COMMENT ON COLUMN onboarding_sessions.finished IS 'Flag of the last answer that had flags.';
COMMENT ON COLUMN onboarding_sessions.active IS 'Flag of the last answer that had flags.';
COMMENT ON COLUMN onboarding_sessions.expired IS 'Flag of the last answer that had it. Null until the first read: the start answer has no such field.';
COMMENT ON COLUMN onboarding_sessions.start_url_ciphertext IS 'startUrl, a bearer capability, encrypted with a key of ENCRYPTION_KEYS and bound to this row. Null once the session has left the open states or is closed.';
COMMENT ON COLUMN onboarding_sessions.created_at IS 'createdAt of the remote service, by the remote clock.';
COMMENT ON COLUMN onboarding_sessions.updated_at IS 'updatedAt of the last answer, by the remote clock.';
COMMENT ON COLUMN onboarding_sessions.expires_at IS 'expiresAt of the last answer, by the remote clock. What the remote service does at that moment is not specified.';
COMMENT ON COLUMN onboarding_sessions.started_updated_at IS 'updatedAt of the start answer, by the remote clock. That updated_at has moved away from it is what awaiting_installation is inferred from.';
COMMENT ON COLUMN onboarding_sessions.state_changed_at IS 'When the state was entered here, which is up to one interval between reads later than there.';
COMMENT ON COLUMN onboarding_sessions.recorded_at IS 'When we recorded the started session.';
COMMENT ON COLUMN onboarding_sessions.changed_at IS 'When anything in this row changed last; what updatedSince filters by.';
COMMENT ON COLUMN onboarding_sessions.superseded_at IS 'When a newer session of the same location and brand took its place; it is watched on all the same. Null while it is the current one.';
COMMENT ON COLUMN onboarding_sessions.last_checked_at IS 'When it was read, as of the last change of this row. The last read at all only for a closed session; else see session_polls.';
COMMENT ON COLUMN onboarding_sessions.closed_at IS 'When we stopped watching. Null while it is watched.';
COMMENT ON COLUMN onboarding_sessions.close_reason IS
  'settled: online, and SETTLE_HOURS are over. late_window_over: expired (or past expires_at), and LATE_ONLINE_DAYS are over. lost: gone at the remote service. erased: its user was. Null while it is watched.';

COMMENT ON TABLE session_polls IS
  'When each watched session is read next, one row per session that is not closed. Narrow, because every read writes it.';
COMMENT ON COLUMN session_polls.session_id IS 'The watched session.';
COMMENT ON COLUMN session_polls.user_id IS 'Its user: one of the two path shapes of the read needs the id (interface 4.4).';
COMMENT ON COLUMN session_polls.due_at IS 'When it is to be read next; the oldest goes first. Written at the claim, for the read after it.';
COMMENT ON COLUMN session_polls.batch_id IS 'The claim that read it last. While poll_batches has that id the read is in flight; afterwards it means nothing. Null before the first claim, and after one whose worker died.';
COMMENT ON COLUMN session_polls.claimed_at IS 'When it was last claimed for a read that is not known to have failed; a failed read sets it back to checked_at.';
COMMENT ON COLUMN session_polls.checked_at IS 'claimed_at of the claim before: the last good read while a read is in flight. Otherwise claimed_at is.';
COMMENT ON COLUMN session_polls.phase IS 'Why it is watched, which decides how often: awaiting_owner, awaiting_installation, settling (online, further inverters may follow), late (expired, may still come online), unrecognised.';
COMMENT ON COLUMN session_polls.anchor_at IS 'When the phase began; the older, the rarer the reads.';
COMMENT ON COLUMN session_polls.failures IS 'Reads in a row that failed or found nothing; doubles the interval each time. 0 after a good read. A read that was not sent (see last_error) does not count: it says nothing about the session.';
COMMENT ON COLUMN session_polls.not_found IS 'Reads in a row that were answered 404 or 410 on every path; the fifth makes the session lost (src/onboarding/read-plan.ts).';
COMMENT ON COLUMN session_polls.answer_hash IS 'SHA-1 of the last answer, so that one that says nothing new costs nothing. Null until the first read.';
COMMENT ON COLUMN session_polls.last_error IS 'Why a read failed or was not sent, without secrets. It is of the last read only if claimed_at equals checked_at: a good read that brings nothing new writes nothing here. admin.sessions shows it so.';

COMMENT ON TABLE poll_batches IS
  'Claims of due sessions in progress: lease and fence for all sessions that carry its id. A row goes when all its reads are done, or when a worker finds its lease over and makes its sessions due again; what the first worker brings after that changes nothing.';
COMMENT ON COLUMN poll_batches.id IS 'Number of the claim, never used twice: the fencing token.';
COMMENT ON COLUMN poll_batches.worker IS 'The process that reads them: host and process id.';
COMMENT ON COLUMN poll_batches.size IS 'How many sessions it claimed.';
COMMENT ON COLUMN poll_batches.claimed_at IS 'When it was claimed.';
COMMENT ON COLUMN poll_batches.lease_until IS 'After this its worker counts as dead, and its sessions may be claimed again.';

COMMENT ON TABLE session_observations IS
  'Answers of the remote service about a session that differed from the one before, whole but for startUrl. Never changed: when a rule of the machine changes, history is judged anew from here.';
COMMENT ON COLUMN session_observations.id IS 'Order of recording.';
COMMENT ON COLUMN session_observations.session_id IS 'The session it is about.';
COMMENT ON COLUMN session_observations.source IS 'Which call brought the answer: start (interface 4.3) or read (4.4).';
COMMENT ON COLUMN session_observations.http_status IS 'HTTP status of the answer.';
COMMENT ON COLUMN session_observations.body IS 'The answer as it came, without startUrl; json and not jsonb, so that no number or escape is altered. Null when it had no readable body.';
COMMENT ON COLUMN session_observations.hash IS 'SHA-1 of the answer, to tell one that is new.';
COMMENT ON COLUMN session_observations.observed_at IS 'When it was recorded.';

COMMENT ON TABLE session_transitions IS 'Every state that a session entered, and by which rule; the history of onboarding_sessions.state.';
COMMENT ON COLUMN session_transitions.id IS 'Order of recording.';
COMMENT ON COLUMN session_transitions.session_id IS 'The session that moved.';
COMMENT ON COLUMN session_transitions.from_state IS 'The state it left. Null for the first, at the start.';
COMMENT ON COLUMN session_transitions.to_state IS 'The state it entered.';
COMMENT ON COLUMN session_transitions.basis IS 'observed or inferred, as in onboarding_sessions.';
COMMENT ON COLUMN session_transitions.rule IS 'Name of the rule that decided (src/onboarding/machine.ts).';
COMMENT ON COLUMN session_transitions.observation_id IS 'The answer that led here. Null when it was no new answer (for example the last of several 404s).';
COMMENT ON COLUMN session_transitions.at IS 'When it was recorded.';

COMMENT ON TABLE inverters IS 'Inverters that a session has listed (interface 2.6). One inverter may stand in several sessions. No field but the id is specified.';
COMMENT ON COLUMN inverters.session_id IS 'The session that listed it.';
COMMENT ON COLUMN inverters.id IS 'Inverter id given by the remote service.';
COMMENT ON COLUMN inverters.first_seen_at IS 'When the session listed it first.';
COMMENT ON COLUMN inverters.last_seen_at IS 'When it was last seen, as of the last change. While missing_since is null it was last seen at the session''s last good read; reads that bring nothing new do not write here.';
COMMENT ON COLUMN inverters.missing_since IS 'When an answer came that no longer listed it. Null while the last answer lists it.';

COMMENT ON TABLE domain_events IS
  'The outbox: every event, in the transaction of the fact it tells. The feed and the handlers read from here. Holds no EAN, name, address or startUrl.';
COMMENT ON COLUMN domain_events.id IS 'The id of the CloudEvent; readers recognise a repetition by it.';
COMMENT ON COLUMN domain_events.position IS 'Order of insertion. Numbers are taken before the commit, so a reader must not go by it: see sequence.';
COMMENT ON COLUMN domain_events.sequence IS 'Order of reading, given after the commit and without ever passing over an event that commits later. Null for the moment between.';
COMMENT ON COLUMN domain_events.name IS 'Name of the event, such as session.online; its CloudEvents type is pv.<name>.v1.';
COMMENT ON COLUMN domain_events.subject IS 'What it is about and ordered by: the id of the session, else of the user or registration.';
COMMENT ON COLUMN domain_events.data IS 'The data of the CloudEvent. Includes the tenant''s metadata of the session.';
COMMENT ON COLUMN domain_events."time" IS 'When the fact was recorded.';

COMMENT ON TABLE event_handlers IS 'Handlers in the service''s own process (@OnEvent), registered at its start.';
COMMENT ON COLUMN event_handlers.name IS 'Class.method of the handler, or the name it was given. A renamed handler is a new one.';
COMMENT ON COLUMN event_handlers.events IS 'Names of the events it asked for.';
COMMENT ON COLUMN event_handlers.seen_at IS 'When a process with this handler was last there, to the hour. After 7 days without one it is no longer owed anything.';

COMMENT ON TABLE handler_deliveries IS
  'Events that a handler has not finished yet; a row goes when it has. A failing event holds back only the later events of the same handler and subject.';
COMMENT ON COLUMN handler_deliveries.handler IS 'The handler that is to have the event.';
COMMENT ON COLUMN handler_deliveries.position IS 'The event, by domain_events.position.';
COMMENT ON COLUMN handler_deliveries.subject IS 'The subject of the event, within which a handler gets events in order.';
COMMENT ON COLUMN handler_deliveries.attempts IS 'How often the handler failed on it.';
COMMENT ON COLUMN handler_deliveries.last_error IS 'Message of its last failure. Null when there was none.';
COMMENT ON COLUMN handler_deliveries.created_at IS 'When the event was recorded for this handler.';

COMMENT ON TABLE api_keys IS 'Keys of the tenant''s own apps. The administrator key of ADMIN_API_KEY is not here.';
COMMENT ON COLUMN api_keys.id IS 'Id of the key, not the key.';
COMMENT ON COLUMN api_keys.name IS 'What its maker called it.';
COMMENT ON COLUMN api_keys.scopes IS 'What it may do.';
COMMENT ON COLUMN api_keys.key_hash IS 'SHA-256 of the key. The key itself was shown once and is stored nowhere.';
COMMENT ON COLUMN api_keys.created_at IS 'When it was made.';
COMMENT ON COLUMN api_keys.created_by IS 'Who made it, as in audit_log.actor.';
COMMENT ON COLUMN api_keys.last_used_at IS 'When it was used last, to the minute. Null when never.';
COMMENT ON COLUMN api_keys.revoked_at IS 'When it was revoked. Null while it is valid.';

COMMENT ON TABLE remote_tokens IS
  'The tenant''s access token for the remote service (interface 2.2, 4.1, 5), shared by every replica; one row, whose lease lets one replica at a time renew it.';
COMMENT ON COLUMN remote_tokens.name IS 'Which token: tenant.';
COMMENT ON COLUMN remote_tokens.generation IS 'Counts the tokens obtained; a 401 invalidates the generation it was answered to, and no newer one.';
COMMENT ON COLUMN remote_tokens.token_ciphertext IS 'The token, encrypted with a key of ENCRYPTION_KEYS and bound to this row. Null before the first and after an invalidation.';
COMMENT ON COLUMN remote_tokens.token_type IS 'token_type as answered; not used: the header is always Bearer. Null before the first token.';
COMMENT ON COLUMN remote_tokens.expires_in_raw IS 'expires_in exactly as answered, since its type is ambiguous (interface 2.2). Null when it was missing.';
COMMENT ON COLUMN remote_tokens.obtained_at IS 'When the token was obtained. Null before the first.';
COMMENT ON COLUMN remote_tokens.renew_at IS 'When it is renewed, well before it expires. Null before the first.';
COMMENT ON COLUMN remote_tokens.expires_at IS 'When it counts as expired: what expires_in says, never more than 14 days. Null before the first.';
COMMENT ON COLUMN remote_tokens.rejected_at IS 'When the token or the credentials were refused: until a trial by one call succeeds, no other call is made. Null while they are accepted.';
COMMENT ON COLUMN remote_tokens.failures IS 'Failures in a row: to obtain a token, or of a fresh one that was refused.';
COMMENT ON COLUMN remote_tokens.last_error IS 'Why, without secrets. Null when nothing has failed since the last success.';
COMMENT ON COLUMN remote_tokens.next_attempt_at IS 'Before this no replica tries again. Null when nothing has failed.';
COMMENT ON COLUMN remote_tokens.lease_token IS 'Random id of the call that obtains a token or tries one out. Null when there is none.';
COMMENT ON COLUMN remote_tokens.lease_until IS 'After this another replica may. Null when there is no such call.';
COMMENT ON COLUMN remote_tokens.credentials_fingerprint IS 'Hash that tells tokens of other credentials, or of another service, apart. Null before the first attempt.';

COMMENT ON TABLE audit_log IS 'What a person or a key with authority did: keys made and revoked, decisions on registrations, and the like. Only added to.';
COMMENT ON COLUMN audit_log.id IS 'Order of recording.';
COMMENT ON COLUMN audit_log.at IS 'When it was recorded, in the transaction of what was done.';
COMMENT ON COLUMN audit_log.actor IS 'key:<id> of a key in api_keys, the name of the administrator key, or what acted without a key, such as cli.';
COMMENT ON COLUMN audit_log.action IS 'What was done, such as api_key.created.';
COMMENT ON COLUMN audit_log.target IS 'Id of what it was done to. Null when it has none.';
COMMENT ON COLUMN audit_log.details IS 'What else is worth knowing, as a JSON object without secrets.';
COMMENT ON COLUMN audit_log.request_id IS 'X-Request-Id of the request, as in the log. Null when it was no request.';
