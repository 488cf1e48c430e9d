import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';

interface StoredMessage {
  readonly subject: string;
  readonly id: string;
  readonly contentType: string;
  readonly event: {
    readonly id: string;
    readonly type: string;
    readonly subject: string;
    readonly sequence: string;
  };
}

/** Returns all messages of the stream in order, or an empty list if the stream does not exist. */
export async function readStream(url: string): Promise<StoredMessage[]> {
  const { host, username, password } = new URL(url);
  const connection = await connect({ servers: host, reconnect: false, user: username, pass: password });
  try {
    const manager = await jetstreamManager(connection, { checkAPI: false });
    const { state } = await manager.streams.info('PV_ONBOARDING').catch(() => ({ state: { last_seq: 0 } }));
    const messages: StoredMessage[] = [];
    for (let seq = 1; seq <= state.last_seq; seq++) {
      const message = await manager.streams.getMessage('PV_ONBOARDING', { seq });
      if (message === null) continue;
      messages.push({
        subject: message.subject,
        id: message.header.get('Nats-Msg-Id'),
        contentType: message.header.get('content-type'),
        event: message.json(),
      });
    }
    return messages;
  } finally {
    await connection.close();
  }
}
