import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { CloudEvent } from 'cloudevents';
import Fastify from 'fastify';
import pg from 'pg';
import { isEventName, type EventName } from '../../../src/events/catalogue.rules.js';
import { schemaOfEvent } from '../../../scripts/asyncapi/schemas.js';
import { toCloudEvent } from '../../../src/events/cloud-event.js';
import type { SequencedEvent } from '../../../src/events/catalogue.rules.js';

// Checks the events of the databases of a test run, because compiling the schemas in each test file takes a tenth of a second.
// `POST /` with the URL of a database responds with the faults of its events.

// Skips the check of the schemas, which the tests of asyncapi.json make, because it takes longer than the compilation.
const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false, allErrors: true });
const validators = new Map<EventName, ValidateFunction>();

/** Returns the validator of an event. Compiles it at the first call, because that takes a while and most test files have few events. */
function validatorOf(name: EventName): ValidateFunction {
  const validate = validators.get(name) ?? ajv.compile(closed(schemaOfEvent(name)) as object);
  validators.set(name, validate);
  return validate;
}

/** Returns the schema with unknown fields forbidden in every object. */
function closed(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema;
  const parts = Object.entries(schema).map(([key, value]) => [key, closed(value)]);
  return { ...Object.fromEntries(parts), ...('required' in schema && { additionalProperties: false }) };
}

// Limits the duration of the check, because a benchmark inserts millions of events.
const MOST = 5_000;

// Skips events without data, which only tests insert. Reads databases of earlier releases too, which lack traceparent.
const EVENTS = `
  SELECT id, name, subject, coalesce(sequence, 1) AS sequence, time, data, to_jsonb(domain_events) ->> 'traceparent' AS traceparent
  FROM domain_events WHERE data <> '{}' ORDER BY position LIMIT ${MOST}`;

/** Returns an empty list if the database is gone or unreachable. */
async function findFaultyEvents(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  // Prevents an uncaught 'error' event. The calls below report the same error.
  client.on('error', () => {});
  try {
    await client.connect();
  } catch {
    return [];
  }
  try {
    const { rows: tables } = await client.query(`SELECT to_regclass('public.domain_events') AS name`);
    if (!tables.some(({ name }: { name: string | null }) => name !== null)) return [];
    const { rows } = await client.query<SequencedEvent>(EVENTS);
    return [...new Set(rows.flatMap((event) => [...faultsOf(event), ...cloudEventFaults(event)]))];
  } finally {
    await client.end();
  }
}

/** Returns the faults that the CloudEvents package finds in strict mode. */
function cloudEventFaults(event: SequencedEvent): string[] {
  try {
    return new CloudEvent({ ...onTheWire(event) }, true).validate()
      ? []
      : [`${event.name} is not a CloudEvent`];
  } catch (error) {
    return [`${event.name} is not a CloudEvent: ${String(error)}`];
  }
}

const onTheWire = (event: SequencedEvent) =>
  JSON.parse(JSON.stringify(toCloudEvent(event, '/pv-onboarding'))) as object;

function faultsOf(event: SequencedEvent): string[] {
  if (!isEventName(event.name)) return [`${String(event.name)} is not an event of the catalogue`];
  const validate = validatorOf(event.name);
  if (validate(onTheWire(event))) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) =>
      `${event.name}: ${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}

const server = Fastify();
server.post<{ Body: string }>('/', ({ body }) => findFaultyEvents(body));
process.on('disconnect', () => process.exit(0));
await server.listen({ host: '127.0.0.1', port: 0 });
process.send?.({ type: 'ready', url: server.listeningOrigin });
