import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import { Arrivals } from './load/arrivals.js';
import { takePart } from './contender.js';

/** `follow` connects to the stream. `leave` disconnects. `take` waits for the expected number of events and returns their arrivals. */
export type ReceiverOptions =
  | { readonly kind: 'take'; readonly from: 'webhooks' | 'stream' }
  | { readonly kind: 'follow'; readonly url: string; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: 'leave' };

takePart(async () => {
  const webhooks = new Arrivals();
  const stream = new Arrivals();
  let leave: () => void = () => {};

  const server = createServer((incoming, response) => {
    let body = '';
    incoming.setEncoding('utf8');
    incoming.on('data', (chunk: string) => (body += chunk));
    incoming.on('end', () => {
      webhooks.add(subjectOf(body));
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  const follow = async (url: string, headers: Readonly<Record<string, string>>): Promise<void> => {
    const ending = new AbortController();
    leave = () => ending.abort();
    const { statusCode, body } = await request(url, { headers, signal: ending.signal });
    if (statusCode !== 200) throw new Error(`the stream responded ${statusCode}: ${await body.text()}`);
    let text = '';
    body.setEncoding('utf8');
    body.on('error', () => {});
    body.on('data', (chunk: string) => {
      const lines = (text + chunk).split('\n');
      text = lines.pop()!;
      for (const line of lines) if (line.startsWith('data:')) stream.add(subjectOf(line));
    });
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    run: async (count: number, options: ReceiverOptions) => {
      switch (options.kind) {
        case 'take':
          return (options.from === 'webhooks' ? webhooks : stream).take(count);
        case 'follow':
          return follow(options.url, options.headers);
        case 'leave':
          return leave();
      }
    },
  };
});

/** Extracts the subject without parsing JSON, so that the receiver takes little CPU time. */
const subjectOf = (text: string): string => /"subject":"([^"]*)"/.exec(text)?.[1] ?? '';
