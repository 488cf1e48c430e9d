import {
  jetstream,
  JetStreamApiCodes,
  JetStreamApiError,
  jetstreamManager,
  StorageType,
} from '@nats-io/jetstream';
import type { JetStreamClient, JetStreamManager, StreamInfo } from '@nats-io/jetstream';
import { connect, errors, headers, nanos, type NatsConnection } from '@nats-io/transport-node';
import type { CloudEvent } from '../cloud-event.js';
import { BrokerError, type EventPublisher, type Held, type Published } from './event-publisher.js';
import { toNatsSubject } from './nats-subject.js';

const STREAM = 'PV_ONBOARDING';
const SUBJECTS = 'pv.>';
const CONNECT_TIMEOUT_MS = 2_000;
/** Per request, including publish acknowledgements. */
const TIMEOUT_MS = 5_000;
/** Enough to keep the broker busy over a slow network; few enough to be acknowledged well within the timeout. */
const IN_FLIGHT = 256;
/**
 * Second safeguard only: repeats are already prevented by `held` and by the expected sequence (see `send`). The server keeps the ids
 * of this period in memory.
 */
const DUPLICATE_WINDOW_MS = 10 * 60_000;

/**
 * Connects to JetStream and creates the stream if it is missing. `url` is one or more addresses, separated by commas. Throws
 * BrokerError.
 */
export async function openNats(url: string): Promise<EventPublisher> {
  let connection: NatsConnection | undefined;
  try {
    connection = await connect({
      ...optionsOf(url),
      name: 'pv-onboarding',
      timeout: CONNECT_TIMEOUT_MS,
      reconnect: false,
    });
    const manager = await jetstreamManager(connection, { checkAPI: false, timeout: TIMEOUT_MS });
    const stream = await prepareStream(manager);
    const held = await readHeld(manager, stream);
    return new NatsPublisher(
      connection,
      jetstream(connection, { timeout: TIMEOUT_MS }),
      held,
      stream.state.last_seq,
    );
  } catch (error) {
    await connection?.close().catch(() => {});
    throw explained(error);
  }
}

class NatsPublisher implements EventPublisher {
  constructor(
    private readonly connection: NatsConnection,
    private readonly client: JetStreamClient,
    readonly held: Held,
    private lastSequence: number,
  ) {}

  async publish(events: readonly CloudEvent[]): Promise<Published> {
    let acked = 0;
    while (acked < events.length) {
      const part = events.slice(acked, acked + IN_FLIGHT);
      const answers = await Promise.allSettled(part.map((event, index) => this.send(event, index)));
      const failed = answers.findIndex(({ status }) => status === 'rejected');
      acked += failed === -1 ? part.length : failed;
      if (failed !== -1)
        return { acked, failure: explained((answers[failed] as PromiseRejectedResult).reason) };
      this.lastSequence += part.length;
    }
    return { acked, failure: null };
  }

  /**
   * Publishes an event with the stream sequence that it expects; otherwise the stream rejects it. So if one event in flight is not
   * stored, none after it is, and the order holds. A process that was paused while another took over cannot add anything.
   */
  private async send(event: CloudEvent, index: number): Promise<void> {
    const fields = headers();
    fields.set('content-type', 'application/cloudevents+json');
    await this.client.publish(toNatsSubject(event), JSON.stringify(event), {
      msgID: event.id,
      headers: fields,
      expect: { streamName: STREAM, lastSequence: this.lastSequence + index },
    });
  }

  async close(): Promise<void> {
    await this.connection.close().catch(() => {});
  }
}

function optionsOf(url: string) {
  const servers = url.split(',').map((server) => new URL(server));
  const { username, password } = servers.find((server) => server.username !== '') ?? {
    username: '',
    password: '',
  };
  const user = decodeURIComponent(username);
  const pass = decodeURIComponent(password);
  return {
    servers: servers.map(({ host }) => host),
    // As in every NATS client, a user name without a password is a token.
    ...(user !== '' && (pass === '' ? { token: user } : { user, pass })),
    ...(servers.some(({ protocol }) => protocol === 'tls:') && { tls: {} }),
  };
}

async function prepareStream(manager: JetStreamManager): Promise<StreamInfo> {
  const stream = await manager.streams.info(STREAM).catch((error: unknown) => {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound)
      return makeStream(manager);
    throw error;
  });
  // Otherwise only some events would be stored.
  if (!stream.config.subjects.some((subject) => subject === SUBJECTS || subject === '>')) {
    throw new BrokerError(
      `the stream ${STREAM} must have ${SUBJECTS} among its subjects; it has ${stream.config.subjects.join(', ')}`,
    );
  }
  return stream;
}

async function makeStream(manager: JetStreamManager): Promise<StreamInfo> {
  try {
    return await manager.streams.add({
      name: STREAM,
      subjects: [SUBJECTS],
      storage: StorageType.File,
      duplicate_window: nanos(DUPLICATE_WINDOW_MS),
    });
  } catch (error) {
    throw new BrokerError(
      `there is no stream ${STREAM}, and it cannot be made here: ${explained(error).message}. Make it with the subjects ${SUBJECTS}`,
    );
  }
}

async function readHeld(manager: JetStreamManager, { state }: StreamInfo): Promise<Held> {
  // `last_seq` does not decrease when messages are deleted or expire.
  if (state.last_seq === 0) return { kind: 'nothing' };
  const last = await manager.streams.getMessage(STREAM, { last_by_subj: SUBJECTS });
  const id = last?.header.get('Nats-Msg-Id') ?? '';
  return id === '' ? { kind: 'unknown' } : { kind: 'up_to', id };
}

function explained(error: unknown): BrokerError {
  if (error instanceof BrokerError) return error;
  return new BrokerError(reasonOf(error), { cause: error });
}

const WRONG_LAST_SEQUENCE = 10_071;

/** Returns our own wording where the client's message would not say what to do. Neither quotes the URL. */
function reasonOf(error: unknown): string {
  const origin = error instanceof errors.RequestError && error.cause !== undefined ? error.cause : error;
  if (origin instanceof errors.PermissionViolationError) {
    return `the user of EVENT_BROKER_URL may not ${origin.operation === 'publish' ? 'publish to' : 'subscribe to'} ${origin.subject}`;
  }
  if (origin instanceof errors.AuthorizationError)
    return 'it refuses the user or password of EVENT_BROKER_URL';
  // The client does not export this class.
  if (origin instanceof Error && origin.name === 'JetStreamNotEnabled')
    return 'JetStream is not enabled there, or no stream takes the event';
  if (origin instanceof errors.TimeoutError) return 'it has not answered in time';
  if (origin instanceof JetStreamApiError) {
    return origin.code === WRONG_LAST_SEQUENCE
      ? `somebody else has published to the stream ${STREAM}`
      : origin.message;
  }
  const code = codeOf(origin);
  return `it cannot be reached${code === undefined ? '' : ` (${code})`}`;
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return 'cause' in error ? codeOf(error.cause) : undefined;
}
