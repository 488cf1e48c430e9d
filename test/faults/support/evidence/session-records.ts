import type { Database } from '../../../../src/platform/database/database.js';

/** Returns all records of each session as text. Equal texts mean that nothing was written in between. */
export async function readSessionRecords(database: Database): Promise<Map<string, string>> {
  const rows = await database.query<{ id: string; record: string }>(
    // Excludes the sequence of events, because a reader assigns it after the commit.
    `SELECT s.id, jsonb_build_object(
              'session', to_jsonb(s),
              'poll', (SELECT to_jsonb(p) FROM session_polls p WHERE p.session_id = s.id),
              'transitions', (SELECT jsonb_agg(t ORDER BY t.id) FROM session_transitions t WHERE t.session_id = s.id),
              'observations', (SELECT jsonb_agg(o ORDER BY o.id) FROM session_observations o WHERE o.session_id = s.id),
              'inverters', (SELECT jsonb_agg(i ORDER BY i.id) FROM inverters i WHERE i.session_id = s.id),
              'events', (SELECT jsonb_agg(to_jsonb(e) - 'sequence' ORDER BY e.position)
                           FROM domain_events e WHERE e.subject = s.id::text))::text AS record
       FROM onboarding_sessions s`,
  );
  return new Map(rows.map(({ id, record }) => [id, record]));
}
