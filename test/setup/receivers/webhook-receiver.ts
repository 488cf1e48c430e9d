import { createServer, type IncomingHttpHeaders } from 'node:http';
import { endServer, listen } from './servers.js';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface ReceiverAnswer {
  readonly status: number;
  readonly body?: string;
}

export interface WebhookReceiver {
  readonly url: string;
  readonly received: Received[];
  /** Returns the response to a request. Default: 204. */
  answer: (received: Received) => ReceiverAnswer | Promise<ReceiverAnswer>;
  close(): Promise<void>;
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { url: path = '', headers } = request;
      const taken = { path, headers, body: Buffer.concat(chunks).toString() };
      received.push(taken);
      void Promise.resolve(receiver.answer(taken)).then(({ status, body }) =>
        response.writeHead(status).end(body),
      );
    });
  });
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${await listen(server)}`,
    received,
    answer: () => ({ status: 204 }),
    close: () => endServer(server),
  };
  return receiver;
}
