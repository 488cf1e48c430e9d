import type { Database } from '../../../../src/platform/database/database.js';
import type { SandboxControl, SandboxSession } from '../../../setup/sandbox/sandbox-control.js';

/** Contradictions in our records, by kind. */
export interface Findings {
  /** States without a transition, and transitions or inverters without an event. */
  readonly lost: readonly string[];
  /** States entered twice, facts announced twice, or events without a fact. */
  readonly doubled: readonly string[];
  /** Transitions to an earlier state, and transitions from a state that the session was not in. */
  readonly backwards: readonly string[];
  /** Sessions whose state or inverters differ from those of the remote service. */
  readonly untrue: readonly string[];
}

export const NOTHING_FOUND: Findings = { lost: [], doubled: [], backwards: [], untrue: [] };

interface Finding {
  readonly kind: keyof Findings;
  readonly what: string;
}

// Compares our tables with each other. Assumes that no session expires or is lost. A transition and its event have the same time.
const FIND = `
  WITH steps AS (
    SELECT t.session_id, t.to_state, t.from_state, t.from_state || ' to ' || t.to_state || ' of ' || t.session_id AS what,
           lag(t.to_state, 1, 'awaiting_owner') OVER (PARTITION BY t.session_id ORDER BY t.id) AS previous,
           lead(t.id) OVER (PARTITION BY t.session_id ORDER BY t.id) IS NULL AS is_last,
           count(*) OVER (PARTITION BY t.session_id, t.to_state) AS times,
           (SELECT count(*) FROM domain_events e
             WHERE e.subject = t.session_id::text AND e.name = 'session.' || t.to_state
               AND (e.data ->> 'observedAt')::timestamptz = t.at AND e.data ->> 'previousState' = t.from_state) AS events
      FROM session_transitions t WHERE t.from_state IS NOT NULL
  ), found_inverters AS (
    SELECT i.id || ' of ' || i.session_id AS what,
           (SELECT count(*) FROM domain_events e
             WHERE e.subject = i.session_id::text AND e.name = 'inverter.online' AND e.data ->> 'inverterId' = i.id::text) AS events
      FROM inverters i
  )
  SELECT 'lost' AS kind, 'no event of ' || what AS what FROM steps WHERE events = 0
  UNION ALL SELECT 'lost', 'no event of inverter ' || what FROM found_inverters WHERE events = 0
  UNION ALL SELECT 'lost', 'no transition to the state of ' || s.id FROM onboarding_sessions s
    LEFT JOIN steps ON steps.session_id = s.id AND steps.is_last
    WHERE s.state <> coalesce(steps.to_state, 'awaiting_owner')
  UNION ALL SELECT 'doubled', what FROM steps WHERE times > 1 OR events > 1
  UNION ALL SELECT 'doubled', 'events of inverter ' || what FROM found_inverters WHERE events > 1
  UNION ALL SELECT 'doubled', e.name || ' of ' || e.subject || ' has no transition' FROM domain_events e
    WHERE e.name LIKE 'session.%' AND e.name NOT IN ('session.started', 'session.start_failed') AND NOT EXISTS (
      SELECT FROM session_transitions t
       WHERE t.session_id::text = e.subject AND e.name = 'session.' || t.to_state AND (e.data ->> 'observedAt')::timestamptz = t.at)
  UNION ALL SELECT 'backwards', what FROM steps
    WHERE previous <> from_state
       OR array_position(ARRAY['awaiting_owner', 'awaiting_installation', 'online'], to_state)
          <= coalesce(array_position(ARRAY['awaiting_owner', 'awaiting_installation', 'online'], from_state), 3)`;

interface RecordedSession {
  readonly id: string;
  readonly state: string;
  readonly inverters: readonly string[];
}

export async function findContradictions(database: Database, control: SandboxControl): Promise<Findings> {
  const findings = await database.query<Finding>(FIND);
  const untrue = await findUntrue(database, control);
  const of = (kind: keyof Findings) => findings.filter((each) => each.kind === kind).map(({ what }) => what);
  return { lost: of('lost'), doubled: of('doubled'), backwards: of('backwards'), untrue };
}

export async function findUntrue(database: Database, control: SandboxControl): Promise<string[]> {
  const recorded = await database.query<RecordedSession>(
    `SELECT s.id, s.state, ARRAY(SELECT i.id::text FROM inverters i WHERE i.session_id = s.id AND i.missing_since IS NULL
                                  ORDER BY i.id::text) AS inverters
       FROM onboarding_sessions s`,
  );
  const remote = new Map((await control.sessions()).map((session) => [session.sessionId, session]));
  return recorded.flatMap(({ id, state, inverters }) => {
    const session = remote.get(id);
    const truth =
      session === undefined ? 'unknown' : `${stateOf(session)} ${[...session.inverters].sort().join()}`;
    const belief = `${state} ${inverters.join()}`;
    return truth === belief ? [] : [`${id} is ${truth}, recorded as ${belief}`];
  });
}

const stateOf = ({ finished, completedAt, inverters }: SandboxSession): string =>
  finished && inverters.length > 0
    ? 'online'
    : completedAt === null
      ? 'awaiting_owner'
      : 'awaiting_installation';

/** Counts the events that the handler in handled-events.ts has not recorded, and the pending deliveries to handlers. */
export async function countHandled(database: Database): Promise<{ missed: number; owed: number }> {
  const [row] = await database.query<{ missed: number; owed: number }>(
    `SELECT (SELECT count(*) FROM domain_events e
              WHERE e.name IN ('session.awaiting_installation', 'session.online', 'inverter.online')
                AND NOT EXISTS (SELECT FROM handled_events h WHERE h.event_id = e.id))::int AS missed,
            (SELECT count(*) FROM admin.event_deliveries)::int AS owed`,
  );
  return row!;
}
