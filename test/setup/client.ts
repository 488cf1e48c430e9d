import { randomUUID } from 'node:crypto';
import type { SessionView } from '../../src/onboarding/api/sessions.view.js';
import type { UserView } from '../../src/users/user/user.view.js';
import { newEan } from './ean.js';
import type { TestApp } from './test-app.js';
import { waitFor } from './wait-for.js';

/** The type of a value after JSON.stringify and JSON.parse. */
type OnTheWire<T> = T extends Date ? string : T extends object ? { [K in keyof T]: OnTheWire<T[K]> } : T;

export type UserAnswer = OnTheWire<UserView>;
export type SessionAnswer = OnTheWire<SessionView>;

export interface EventAnswer {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  readonly sequence: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Answer<T = Readonly<Record<string, unknown>>> {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: T;
}

export class TestClient {
  constructor(
    private readonly address: string | Pick<TestApp, 'url' | 'adminKey'>,
    private readonly ownKey?: string,
  ) {}

  /** Returns a client with the administrator's key. The service may start after this call. */
  static of(service: Pick<TestApp, 'url' | 'adminKey'>): TestClient {
    return new TestClient(service);
  }

  get url(): string {
    return typeof this.address === 'string' ? this.address : this.address.url;
  }

  get key(): string {
    return this.ownKey ?? (this.address as TestApp).adminKey;
  }

  /** Sends a request. A string `body` is sent unchanged, any other `body` as JSON. */
  async call<T = Readonly<Record<string, unknown>>>(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer<T>> {
    const response = await fetch(`${this.url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: (text === '' ? undefined : JSON.parse(text)) as T,
    };
  }

  /** Returns the items of a list. */
  async list<T = Readonly<Record<string, unknown>>>(path: string): Promise<T[]> {
    return (await this.call<{ items: T[] }>('GET', path)).body.items;
  }

  /** Registers a user with one grid location and returns the location's id. */
  async locate(tenantReference: string = randomUUID()): Promise<string> {
    const { status, body } = await this.call<UserAnswer>('POST', '/users', {
      tenantReference,
      gridLocations: [{ ean: newEan() }],
    });
    if (status !== 201) throw new Error(`the user was not registered: ${status} ${JSON.stringify(body)}`);
    return body.gridLocations[0]!.id;
  }

  start = (gridLocationId: string, body?: object): Promise<Answer<SessionAnswer>> =>
    this.call('POST', `/onboarding/pv/${gridLocationId}`, body);

  async startNew(body?: object): Promise<SessionAnswer> {
    return (await this.start(await this.locate(), body)).body;
  }

  session = async (id: string, query = ''): Promise<SessionAnswer> =>
    (await this.call<SessionAnswer>('GET', `/onboarding/pv/${id}${query}`)).body;

  /** Waits until the session is in this state, and returns it. */
  untilState = (id: string, state: string): Promise<SessionAnswer> =>
    waitFor(`session ${id} is ${state}`, async () => {
      const session = await this.session(id);
      return session.state === state && session;
    });

  async events(): Promise<EventAnswer[]> {
    const events: EventAnswer[] = [];
    for (let after = '0'; ;) {
      const { body } = await this.call<{ items: EventAnswer[]; next: string }>(
        'GET',
        `/events?after=${after}&limit=200`,
      );
      if (body.items.length === 0) return events;
      events.push(...body.items);
      after = body.next;
    }
  }

  /** Returns the types of a subject's events without `pv.` and `.v1`, and without those of its stalls, which come up to 2 s later. */
  async eventsOf(sessionId: string): Promise<string[]> {
    const events = await this.events();
    return events
      .filter(({ subject, type }) => subject === sessionId && !type.startsWith('pv.stall.'))
      .map(({ type }) => type.replace(/^pv\.|\.v1$/g, ''));
  }
}
