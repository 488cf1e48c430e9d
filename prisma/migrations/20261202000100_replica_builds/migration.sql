-- Signs of life also say which build a process runs.
COMMENT ON COLUMN remote_replicas.signs IS 'What it tells of itself: requests and failedRequests of the last minute, waitingForConnectionsSeconds and longestStatement while its pool is used up, hasNoSpace, latestCalls of each operation of the remote service with the slow ones, and build: its version, commit and newest migration.';
