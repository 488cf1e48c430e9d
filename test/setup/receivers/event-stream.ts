import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { EventAnswer } from '../client.js';

interface StreamedEvent {
  /** The `id` field of the stream: the event's sequence. */
  readonly id: string;
  readonly type: string;
  readonly event: EventAnswer;
  readonly receivedAt: number;
}

export interface StreamAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Returns the text received so far, cut at about 100,000 characters. */
  text(): string;
  readonly events: readonly StreamedEvent[];
  /** Returns the last `id` received, with or without an event. A browser would resume from this id. */
  lastEventId(): string | undefined;
  /** Resolves when the connection closes: `complete` if the server ended the response, otherwise `cut`. */
  readonly ended: Promise<'complete' | 'cut'>;
  leave(): void;
  /** Stops reading but leaves the connection open. */
  stopReading(): void;
}

export interface StreamOptions {
  readonly key: string;
  readonly query?: string;
  readonly lastEventId?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly onEvent?: (event: StreamedEvent) => void;
}

/** Opens the event stream and parses it after section 9.2 of the HTML standard, without the code of the service. */
export async function openStream(url: string, options: StreamOptions): Promise<StreamAnswer> {
  const { key, query = '', lastEventId, method = 'GET', headers, onEvent } = options;
  const sent = request(`${url}/api/v1/events/stream${query}`, {
    method,
    agent: false,
    headers: {
      authorization: `Bearer ${key}`,
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      ...headers,
    },
  });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve).once('error', reject).end();
  });
  sent.on('error', () => {});
  response.on('error', () => {});
  const events: StreamedEvent[] = [];
  let whole = '';
  let rest = '';
  let last: string | undefined;
  const take = (block: string): void => {
    const fields = new Map<string, string>();
    for (const line of block.split('\n')) {
      const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
      if (name !== undefined && value !== undefined) fields.set(name, value);
    }
    last = fields.get('id') ?? last;
    const data = fields.get('data');
    if (data === undefined) return;
    const event = {
      id: last ?? '',
      type: fields.get('event') ?? 'message',
      event: JSON.parse(data) as EventAnswer,
      receivedAt: performance.now(),
    };
    events.push(event);
    onEvent?.(event);
  };
  response.setEncoding('utf8').on('data', (text: string) => {
    if (whole.length < 100_000) whole += text;
    const blocks = (rest + text).split('\n\n');
    rest = blocks.pop() ?? '';
    blocks.forEach(take);
  });
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: () => whole,
    events,
    lastEventId: () => last,
    ended: new Promise((resolve) => {
      response.once('close', () => resolve(response.complete ? 'complete' : 'cut'));
    }),
    leave: () => sent.destroy(),
    stopReading: () => response.pause(),
  };
}
