import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type pg from 'pg';
import { EVENT_NAMES, isEventName } from '../../src/events/catalogue.rules.js';
import { schemaOfEvent } from '../../src/events/contract/schema-document.js';
import { toCloudEvent } from '../../src/events/cloud-event.js';
import type { SequencedEvent } from '../../src/events/feed/events.store.js';

let validators: ReadonlyMap<string, ValidateFunction> | undefined;

/** Closed: a field that the contract does not name is a fault as well. Made when the first database with events is dropped. */
function validatorsByName(): ReadonlyMap<string, ValidateFunction> {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  return (validators ??= new Map(
    EVENT_NAMES.map((name) => [name, ajv.compile(schemaOfEvent(name, 'closed'))]),
  ));
}

// Of each kind of fault one is enough, and a benchmark's millions would take a while.
const MOST = 5_000;

// An event without data is one that a test has laid out with SQL; the outbox writes none.
const EVENTS = `
  SELECT id, name, subject, coalesce(sequence, 1) AS sequence, time, data
  FROM domain_events WHERE data <> '{}' ORDER BY position LIMIT ${MOST}`;

/** What is wrong with the events of the database, by the contract of each; empty when nothing is. */
export async function findFaultyEvents(client: pg.Client): Promise<string[]> {
  const { rows: tables } = await client.query(`SELECT to_regclass('public.domain_events') AS name`);
  if (!tables.some(({ name }: { name: string | null }) => name !== null)) return [];
  const { rows } = await client.query<SequencedEvent>(EVENTS);
  return [...new Set(rows.flatMap(faultsOf))];
}

export function faultsOf(event: SequencedEvent): string[] {
  if (!isEventName(event.name)) return [`${String(event.name)} is no event of the catalogue`];
  const validate = validatorsByName().get(event.name);
  if (validate?.(JSON.parse(JSON.stringify(toCloudEvent(event, '/pv-onboarding')))) === true) return [];
  return (validate?.errors ?? []).map(
    ({ instancePath, message, params }) =>
      `${event.name}: ${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}
