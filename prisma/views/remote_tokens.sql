CREATE OR REPLACE VIEW admin.remote_tokens AS
SELECT t.name,
       t.generation,
       t.token_ciphertext IS NOT NULL AS present,
       t.token_type,
       t.expires_in_raw,
       t.obtained_at,
       t.renew_at,
       t.expires_at,
       t.rejected_at,
       t.failures,
       t.last_error,
       t.next_attempt_at,
       coalesce(t.lease_until >= now(), false) AS being_renewed,
       t.refused_operations
  FROM public.remote_tokens t;
COMMENT ON VIEW admin.remote_tokens IS 'The access token for the remote service: its age and failures, never its value.';
COMMENT ON COLUMN admin.remote_tokens.present IS 'Whether there is a token.';
COMMENT ON COLUMN admin.remote_tokens.being_renewed IS 'Whether a replica is requesting or trying a token now.';
COMMENT ON COLUMN admin.remote_tokens.refused_operations IS 'The classes of operations whose trial of a token was refused with a 401, and none of whose calls was accepted since.';
