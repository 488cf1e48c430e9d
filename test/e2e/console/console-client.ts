import type { Scope } from '../../../src/access/scopes.js';
import { TestClient } from '../../setup/client.js';
import type { TestApp } from '../../setup/test-app.js';

/** A browser in which the console runs: it keeps one cookie, and sends it with our origin. */
export class ConsoleBrowser {
  cookie = '';

  constructor(private readonly service: Pick<TestApp, 'url'>) {}

  /** Sends a request as a script of the console's page does. A header that is undefined is left out. */
  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string | undefined>> = {},
  ): Promise<Response> {
    const all = {
      origin: this.service.url,
      'x-console': '1',
      cookie: this.cookie,
      'content-type': body === undefined ? undefined : 'application/json',
      ...headers,
    };
    const given = Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined);
    const response = await fetch(`${this.service.url}${path}`, {
      method,
      redirect: 'manual',
      headers: Object.fromEntries(given),
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    for (const line of response.headers.getSetCookie())
      if (line.startsWith('pvo_console=')) this.cookie = line.split(';')[0]!;
    return response;
  }

  signIn = (key: string): Promise<Response> => this.send('POST', '/console/session', { key });
}

export async function createKey(service: TestApp, ...scopes: Scope[]): Promise<{ id: string; key: string }> {
  const { body } = await TestClient.of(service).call<{ id: string; key: string }>('POST', '/api-keys', {
    name: 'The night shift',
    scopes,
  });
  return body;
}
