import {
  DiscardPolicy,
  jetstream,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamInfo,
} from '@nats-io/jetstream';
import { connect, errors, headers, nanos, type NatsConnection } from '@nats-io/transport-node';
import { certificateFault } from '../../platform/crypto/certificate-fault.js';
import type { CloudEvent } from '../cloud-event.js';
import { BrokerError, type EventPublisher, type StoredEvents, type Published } from './event-publisher.js';

const STREAM = 'PV_ONBOARDING';
const SUBJECTS = 'pv.>';
/** The timeout of each request and of each publish acknowledgement. */
const TIMEOUT_MS = 5_000;
/** The broker ignores ids repeated within this time. A second safeguard: the expected sequence already prevents repeats. */
const DUPLICATE_WINDOW_MS = 10 * 60_000;

/** Connects to JetStream at one or more addresses, separated by commas; creates the stream if it is missing. Throws BrokerError. */
export async function openNats(url: string): Promise<EventPublisher> {
  let connection: NatsConnection | undefined;
  try {
    connection = await connect({
      ...optionsOf(url),
      name: 'pv-onboarding',
      timeout: 2_000,
      reconnect: false,
    });
    const manager = await jetstreamManager(connection, { checkAPI: false, timeout: TIMEOUT_MS });
    const stream = await prepareStream(manager);
    const stored = await readStored(manager, stream);
    const client = jetstream(connection, { timeout: TIMEOUT_MS });
    return {
      ...publisherOf(connection, client, stream.state.last_seq),
      stored,
      warnings: warningsOf(stream),
    };
  } catch (error) {
    await connection?.close().catch(() => {});
    throw explained(error);
  }
}

function publisherOf(
  connection: NatsConnection,
  client: JetStreamClient,
  lastSequence: number,
): Pick<EventPublisher, 'publish' | 'close'> {
  /**
   * Publishes one event, with the sequence that the stream must have reached. So the broker rejects an event after a gap, and events of a
   * process that has lost the lease.
   */
  async function send(event: CloudEvent, index: number): Promise<void> {
    const fields = headers();
    fields.set('content-type', 'application/cloudevents+json');
    await client.publish(toNatsSubject(event), JSON.stringify(event), {
      msgID: event.id,
      headers: fields,
      expect: { streamName: STREAM, lastSequence: lastSequence + index },
    });
  }

  async function publish(events: readonly CloudEvent[]): Promise<Published> {
    const failures = await Promise.all(
      events.map((event, index) => send(event, index).then(() => null, explained)),
    );
    const failed = failures.findIndex((failure) => failure !== null);
    if (failed !== -1) return { acked: failed, failure: failures[failed]! };
    lastSequence += events.length;
    return { acked: events.length, failure: null };
  }

  return { publish, close: () => connection.close().catch(() => {}) };
}

function optionsOf(url: string) {
  const servers = url.split(',').map((server) => new URL(server));
  const credentials = servers.find(({ username }) => username !== '');
  const user = decodeURIComponent(credentials?.username ?? '');
  const pass = decodeURIComponent(credentials?.password ?? '');
  return {
    servers: servers.map(({ host }) => host),
    // As in every NATS client, a user name without a password is a token.
    ...(user !== '' && (pass === '' ? { token: user } : { user, pass })),
    ...(servers.some(({ protocol }) => protocol === 'tls:') && { tls: {} }),
  };
}

async function prepareStream(manager: JetStreamManager): Promise<StreamInfo> {
  const stream = await manager.streams.info(STREAM).catch((error: unknown) => {
    if (!(error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound)) throw error;
    const duplicate_window = nanos(DUPLICATE_WINDOW_MS);
    return manager.streams
      .add({ name: STREAM, subjects: [SUBJECTS], storage: StorageType.File, duplicate_window })
      .catch((cause: unknown) => {
        throw new BrokerError(
          `there is no stream ${STREAM}, and it cannot be created: ${explained(cause).message}. Create it with the subjects ${SUBJECTS}`,
        );
      });
  });
  const { subjects } = stream.config;
  // With narrower subjects, the stream would store only some of the events.
  if (!subjects.includes(SUBJECTS) && !subjects.includes('>'))
    throw new BrokerError(
      `the stream ${STREAM} must have ${SUBJECTS} among its subjects; it has ${subjects.join(', ')}`,
    );
  return stream;
}

function warningsOf({ config, cluster }: StreamInfo): string[] {
  const { max_age, max_msgs, max_bytes, max_msgs_per_subject, discard, discard_new_per_subject } = config;
  const deletes =
    config.retention !== RetentionPolicy.Limits ||
    max_age > 0 ||
    (discard === DiscardPolicy.Old && (max_msgs > 0 || max_bytes > 0)) ||
    (max_msgs_per_subject > 0 && !discard_new_per_subject);
  return [
    ...(deletes ? [`the settings of the stream ${STREAM} may delete events that nobody has read yet`] : []),
    ...(config.storage === StorageType.Memory
      ? [`the stream ${STREAM} is in memory: if its server restarts, its events are lost`]
      : []),
    ...(cluster?.name !== undefined && config.num_replicas === 1
      ? [`the stream ${STREAM} has one replica in a cluster: if that server is lost, so are its events`]
      : []),
  ];
}

async function readStored(manager: JetStreamManager, { state }: StreamInfo): Promise<StoredEvents> {
  // `last_seq` never decreases, so 0 means that no event was ever stored.
  if (state.last_seq === 0) return { kind: 'nothing' };
  const last = await manager.streams.getMessage(STREAM, { last_by_subj: SUBJECTS });
  const id = last?.header.get('Nats-Msg-Id') ?? '';
  return id === '' ? { kind: 'unknown' } : { kind: 'up_to', id };
}

const explained = (error: unknown): BrokerError =>
  error instanceof BrokerError ? error : new BrokerError(reasonOf(error), { cause: error });

const WRONG_LAST_SEQUENCE = 10_071;
/** The client has no code for this error. */
const NO_TLS = `server does not support 'tls'`;

/** Returns the reason in words that tell the operator what to do. Never includes the URL, which contains the password. */
function reasonOf(error: unknown): string {
  const origin = error instanceof errors.RequestError && error.cause !== undefined ? error.cause : error;
  if (origin instanceof errors.PermissionViolationError)
    return `the user of EVENT_BROKER_URL may not ${origin.operation === 'publish' ? 'publish to' : 'subscribe to'} ${origin.subject}`;
  if (origin instanceof errors.AuthorizationError)
    return 'it refuses the user or password of EVENT_BROKER_URL';
  // The client does not export this class.
  if (origin instanceof Error && origin.name === 'JetStreamNotEnabled')
    return 'JetStream is not enabled there, or no stream accepts the event';
  if (origin instanceof errors.TimeoutError) return 'it has not responded in time';
  if (origin instanceof JetStreamApiError && origin.code === WRONG_LAST_SEQUENCE)
    return `another client has published to the stream ${STREAM}`;
  if (origin instanceof JetStreamApiError) return origin.message;
  if (origin instanceof Error && origin.message === NO_TLS)
    return 'it does not support TLS: turn it on there, or begin EVENT_BROKER_URL with nats://';
  const code = codeOf(origin);
  const fault = certificateFault(code, 'NODE_EXTRA_CA_CERTS');
  if (fault !== undefined) return fault;
  return `it cannot be reached${code === undefined ? '' : ` (${code})`}`;
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return 'cause' in error ? codeOf(error.cause) : undefined;
}

/** Returns `<type>.<subject>` with separators and wildcards percent-encoded. `pv.*.*.v1.<session id>` matches the events of one session. */
function toNatsSubject({ type, subject }: CloudEvent): string {
  const token = encodeURIComponent(subject.toWellFormed());
  const encode = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return `${type}.${token.replace(/[.*!'()~]/g, encode)}`;
}
