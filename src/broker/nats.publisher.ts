import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import { isIP, type Socket } from 'node:net';
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
import {
  connect,
  errors,
  headers,
  nanos,
  type NatsConnection,
  type NodeConnectionOptions,
} from '@nats-io/transport-node';
import { certificateFault } from '../platform/crypto/certificate-fault.js';
import { resolveWithin } from '../platform/http-client/names.js';
import type { TlsMaterial } from '../platform/http-client/tls-files.js';
import { isUuid } from '../platform/uuid.rules.js';
import type { CloudEvent } from '../events/cloud-event.js';
import { BrokerError, type EventPublisher } from './event-publisher.js';

const STREAM = 'PV_ONBOARDING';
const SUBJECTS = 'pv.>';
/** The timeout of each request to the broker and of each confirmation of an event. */
const TIMEOUT_MS = 5_000;
/** The broker ignores an event whose id it stored within the last 10 minutes. The expected sequence prevents repeats anyway. */
const DUPLICATE_WINDOW_MS = 10 * 60_000;

/** The code of JetStream for a message that is larger than the stream allows. The client's library has no name for it. */
const MESSAGE_TOO_LARGE = 10_054;

const CONNECT_WITHIN_MS = 2_000;

const opening = new AsyncLocalStorage<Socket[]>();
// Node documents this channel: it reports each socket that is created for a connection.
subscribe('net.client.socket', (message) => opening.getStore()?.push((message as { socket: Socket }).socket));

/**
 * Connects the client to the first server that accepts. Closes all other connections that it has opened: it leaves one open if the server
 * accepts it and then says nothing, and with each attempt there would be one more.
 */
async function connectClient(url: string, tls: TlsMaterial): Promise<NatsConnection> {
  const sockets: Socket[] = [];
  const connecting = opening.run(sockets, async () => {
    let failure: unknown;
    for (const server of url.split(',')) {
      try {
        return await connectTo(new URL(server), optionsOf(url, tls));
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  });
  try {
    const connection = await connecting;
    sockets.pop();
    return connection;
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

/** Connects to the addresses of a server. The client itself would resolve the name by getaddrinfo, which occupies a thread of libuv. */
async function connectTo(
  { host, hostname, port }: URL,
  options: NodeConnectionOptions,
): Promise<NatsConnection> {
  if (isIP(hostname) !== 0 || hostname.startsWith('[')) return connect({ ...options, servers: host });
  const addresses = await resolveWithin(CONNECT_WITHIN_MS, hostname);
  const servers = addresses.map(({ address, family }) => {
    const literal = family === 6 ? `[${address}]` : address;
    return port === '' ? literal : `${literal}:${port}`;
  });
  // Checks the certificate against the name, since `servers` has addresses. With `tls`, the client refuses a server without TLS.
  const named = { ...options, servers, tls: { ...options.tls, servername: hostname } };
  return connect(named).catch((error: unknown) => {
    if (options.tls || !isWithoutTls(error)) throw error;
    return connect({ ...options, servers });
  });
}

const isWithoutTls = (error: unknown): boolean =>
  error instanceof errors.ConnectionError && error.message.includes("does not support 'tls'");

/** Connects to JetStream at one or more addresses, separated by commas. Creates the stream if it is missing. Throws BrokerError. */
export async function openNats(url: string, tls: TlsMaterial = {}): Promise<EventPublisher> {
  let connection: NatsConnection | undefined;
  try {
    connection = await connectClient(url, tls);
    const manager = await jetstreamManager(connection, { checkAPI: false, timeout: TIMEOUT_MS });
    const stream = await prepareStream(manager);
    const client = jetstream(connection, { timeout: TIMEOUT_MS });
    const close = () => connection!.close().catch(() => {});
    return {
      lastId: await findLastId(manager, stream),
      warnings: warningsOf(stream),
      publish: publishingTo(connection, client, stream.state.last_seq),
      close,
    };
  } catch (error) {
    await connection?.close().catch(() => {});
    throw explained(error);
  }
}

function publishingTo(
  connection: NatsConnection,
  client: JetStreamClient,
  lastSequence: number,
): EventPublisher['publish'] {
  return async (events) => {
    if (connection.isClosed()) throw new BrokerError('the connection was closed');
    // Each event names the sequence that the stream must have reached before it. So the broker rejects events after a gap, and events of a
    // process that has lost the lease. It names its predecessor, too: a message of others may have that sequence.
    const publish = (event: CloudEvent, index: number) => {
      const fields = headers();
      fields.set('content-type', 'application/cloudevents+json');
      return client.publish(toNatsSubject(event), JSON.stringify(event), {
        msgID: event.id,
        headers: fields,
        expect: {
          streamName: STREAM,
          lastSequence: lastSequence + index,
          lastMsgID: events[index - 1]?.id,
        },
      });
    };
    const results = await Promise.allSettled(events.map(publish));
    const failed = results.findIndex(({ status }) => status === 'rejected');
    const [first] = results;
    if (failed === 0 && first?.status === 'rejected') throw explainedFor(events[0]!, first.reason);
    const acked = failed === -1 ? events.length : failed;
    // The sequence of an event that the stream already has may be one of long ago.
    lastSequence = Math.max(
      lastSequence,
      ...results.map((each) => (each.status === 'fulfilled' ? each.value.seq : 0)),
    );
    return acked;
  };
}

/** Returns the options for every server of `url`. */
function optionsOf(url: string, tls: TlsMaterial) {
  const servers = url.split(',').map((server) => new URL(server));
  const credentials = servers.find(({ username }) => username !== '');
  const user = decodeURIComponent(credentials?.username ?? '');
  const pass = decodeURIComponent(credentials?.password ?? '');
  return {
    name: 'pv-onboarding',
    timeout: CONNECT_WITHIN_MS,
    reconnect: false,
    // A user name without a password is a token, as in every NATS client.
    ...(user !== '' && (pass === '' ? { token: user } : { user, pass })),
    // Own files require TLS, too: otherwise a client certificate would not be asked for.
    ...((servers.some(({ protocol }) => protocol === 'tls:') || Object.keys(tls).length > 0) && { tls }),
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
  const isAlone = cluster?.name !== undefined && config.num_replicas === 1;
  return [
    deletes && `the settings of the stream ${STREAM} may delete events that nobody has read yet`,
    config.storage === StorageType.Memory &&
      `the stream ${STREAM} is in memory: if its server restarts, its events are lost`,
    isAlone && `the stream ${STREAM} has one replica in a cluster: if that server is lost, so are its events`,
  ].filter((warning) => warning !== false);
}

async function findLastId(manager: JetStreamManager, { state }: StreamInfo) {
  // `last_seq` never decreases, so 0 means that no event was ever stored.
  if (state.last_seq === 0) return null;
  const last = await manager.streams.getMessage(STREAM, { last_by_subj: SUBJECTS });
  // Messages after it were deleted, as those about an erased user are: that is not a loss.
  if (last?.seq !== state.last_seq) return undefined;
  const id = last.header.get('Nats-Msg-Id');
  return isUuid(id) ? id : undefined;
}

/** Returns an error that tells the operator what to do. No message of the NATS client contains the URL, which includes the password. */
function explained(error: unknown): BrokerError {
  if (error instanceof BrokerError) return error;
  // The client's message names one of the two causes only.
  if (error instanceof Error && error.name === 'JetStreamNotEnabled')
    return new BrokerError('no server responds for JetStream: it is off, or has no leader now', {
      cause: error,
    });
  const origin = error instanceof errors.RequestError && error.cause !== undefined ? error.cause : error;
  const code = codeOf(origin);
  const reason =
    code === undefined || code === 'ETIMEOUT'
      ? // The inbox of each attempt has another name, and each new reason is logged.
        (origin as Error).message.replace(/_INBOX\.[^"]*/, '_INBOX.>')
      : (certificateFault(code, 'EVENT_BROKER_CA_FILE') ?? `it cannot be reached (${code})`);
  return new BrokerError(reason, { cause: error });
}

/** Explains an error about one event. A reader may miss none, so those after an event that is too large wait until it is accepted. */
function explainedFor(event: CloudEvent, error: unknown): BrokerError {
  if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamWrongLastSequence)
    return new BrokerError(`something else publishes to the stream ${STREAM}: ${error.message}`, {
      cause: error,
    });
  const limit =
    error instanceof JetStreamApiError && error.code === MESSAGE_TOO_LARGE
      ? `max_msg_size of the stream ${STREAM}`
      : error instanceof errors.InvalidArgumentError && error.message.includes('max_payload')
        ? 'max_payload of the server'
        : undefined;
  if (limit === undefined) return explained(error);
  const bytes = Buffer.byteLength(JSON.stringify(event));
  const reason = `an event of ${bytes} bytes and headers (${event.type}, id ${event.id}) exceeds the ${limit}: raise it. All later events wait`;
  return new BrokerError(reason, { cause: error });
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return 'cause' in error ? codeOf(error.cause) : undefined;
}

/** Returns `<type>.<subject>`, separators and wildcards percent-encoded. `pv.*.*.v1.<session id>` matches the events of one session. */
function toNatsSubject({ type, subject }: CloudEvent): string {
  const token = encodeURIComponent(subject.toWellFormed());
  const encode = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return `${type}.${token.replace(/[.*!'()~]/g, encode)}`;
}
