-- A worker ends starts whose lease has expired, and a session that could not be stored is an orphan too.
COMMENT ON COLUMN session_starts.orphans IS
  'How many of the attempts had no readable answer, one with the id of a session of something else, or one that could not be stored: each may have left a session at the remote service that nobody knows the id of. It expires there unused.';
COMMENT ON COLUMN session_starts.lease_until IS
  'Renewed while the remote service is called. After this a sending attempt counts as dead: the next request for the same location and brand takes it over, or a worker marks it as failed.';
COMMENT ON COLUMN admin.session_starts.orphans IS
  'How many of the attempts had no readable answer, one with the id of a session of something else, or one that could not be stored: each may have left a session at the remote service that nobody knows the id of. It expires there unused.';
