import type { Statement } from '../../platform/database/database.js';

const LIVE = `id <> $1 AND expires_at > clock_timestamp()`;

// One statement, so one snapshot: the rows counted, written and returned belong to the same moment. Two replicas that join at the same
// moment do not see each other, which is why a first heartbeat grants nothing (see Deployment).
export const BEAT: Statement = {
  name: 'remote_replicas_beat',
  text: `
    WITH others AS (
      SELECT count(*)::int AS live, min(counted) AS counted FROM remote_replicas WHERE ${LIVE}
    ), gone AS (
      DELETE FROM remote_replicas WHERE id <> $1 AND expires_at < clock_timestamp() - interval '1 minute'
    ), mine AS (
      INSERT INTO remote_replicas (id, name, counted, expires_at)
      SELECT $1, $2, live + 1, clock_timestamp() + $3::float8 * interval '1 millisecond' FROM others
      ON CONFLICT (id) DO UPDATE SET counted = excluded.counted, expires_at = excluded.expires_at
    )
    SELECT live + 1 AS replicas, coalesce(counted > live, true) AS settled FROM others`,
};

export const LEAVE: Statement = {
  name: 'remote_replicas_leave',
  text: `DELETE FROM remote_replicas WHERE id = $1`,
};
