import type { Database } from '../../../../src/platform/database/database.js';
import type { SandboxControl } from '../../../setup/sandbox/sandbox-control.js';
import { contradictions, readRegistrations } from './registration-ledger.js';
import { countStarts } from './lost-starts.js';
import { findUntrue } from './session-oracle.js';

/** Transitions and events of sessions that came online. Each must exist once, whatever happened before. */
const ONLINE = `
  SELECT s.id, (SELECT count(*)::int FROM session_transitions t WHERE t.session_id = s.id AND t.to_state = 'online') AS transitions,
         (SELECT count(*)::int FROM domain_events e WHERE e.subject = s.id::text AND e.name = 'session.online') AS events,
         (SELECT count(*)::int FROM domain_events e WHERE e.subject = s.id::text AND e.name = 'inverter.online') AS inverters
    FROM onboarding_sessions s WHERE s.state = 'online'`;

/** Returns what is lost, doubled or guessed: each difference between our records and the ledger and sessions of the remote service. */
export async function findDifferences(database: Database, control: SandboxControl): Promise<string[]> {
  const ledger = await control.ledger();
  const registrations = await readRegistrations(database);
  const references = new Set([
    ...registrations.map(({ tenantReference }) => tenantReference),
    ...ledger.users.map(({ tenantReference }) => tenantReference),
  ]);
  const locations = [...new Set(ledger.sessions.map(({ gridLocationId }) => gridLocationId))];
  const starts = await countStarts(database, ledger, locations);
  const recorded = await database.query<{ gridLocationId: string; sessions: number }>(
    `SELECT grid_location_id AS "gridLocationId", count(*)::int AS sessions FROM onboarding_sessions GROUP BY 1`,
  );
  const sessionsOf = new Map(recorded.map(({ gridLocationId, sessions }) => [gridLocationId, sessions]));
  const online =
    await database.query<Readonly<Record<'transitions' | 'events' | 'inverters', number>>>(ONLINE);
  return [
    ...contradictions([...references], ledger, registrations),
    ...starts.flatMap(({ gridLocationId, effects, orphans }) => {
      const known = sessionsOf.get(gridLocationId) ?? 0;
      // A start counts as an orphan even if its lost call may have had no effect.
      return known <= effects && effects <= known + orphans
        ? []
        : [`${gridLocationId}: ${effects} sessions, ${known} known, ${orphans} orphans`];
    }),
    ...online.flatMap((counts) =>
      counts.transitions === 1 && counts.events === 1 && counts.inverters === 1
        ? []
        : [`online, with ${JSON.stringify(counts)}`],
    ),
    ...(await findUntrue(database, control)),
  ];
}
