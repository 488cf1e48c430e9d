import { randomInt, randomUUID } from 'node:crypto';
import type { TestApp } from './test-app.js';

export interface UserAnswer {
  readonly id: string;
  readonly tenantReference: string;
  readonly gridLocations: readonly { readonly id: string; readonly ean: string }[];
}

export interface SessionAnswer {
  readonly id: string;
  readonly userId: string;
  readonly gridLocationId: string;
  readonly tenantReference: string;
  readonly brand: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly state: string;
  readonly basis: string;
  readonly finished: boolean;
  readonly active: boolean;
  readonly expired: boolean | null;
  readonly startUrl: string | null;
  readonly inverters: readonly {
    readonly id: string;
    readonly firstSeenAt: string;
    readonly lastSeenAt: string;
    readonly missingSince: string | null;
  }[];
  readonly checkedAt: string;
  readonly nextCheckAt: string | null;
  readonly closedAt: string | null;
  readonly updatedAt: string;
}

export interface EventAnswer {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Answer<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

/** An app of the tenant, as far as a test needs one. */
export class TestClient {
  constructor(
    readonly url: string,
    readonly key: string,
  ) {}

  static of(service: Pick<TestApp, 'url' | 'adminKey'>): TestClient {
    return new TestClient(service.url, service.adminKey);
  }

  async call<T = Readonly<Record<string, unknown>>>(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<Answer<T>> {
    const response = await fetch(`${this.url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: (text === '' ? undefined : JSON.parse(text)) as T,
    };
  }

  /** Registers a user with one grid location, and answers that location's id. */
  async locate(tenantReference: string = randomUUID()): Promise<string> {
    const ean = `8716${randomInt(1e9, 1e10)}${randomInt(1e3, 1e4)}`;
    const { status, body } = await this.call<UserAnswer>('POST', '/users', {
      tenantReference,
      gridLocations: [{ ean }],
    });
    if (status !== 201) throw new Error(`the user was not registered: ${status} ${JSON.stringify(body)}`);
    return body.gridLocations[0]!.id;
  }

  start = (gridLocationId: string, body?: object): Promise<Answer<SessionAnswer>> =>
    this.call('POST', `/onboarding/pv/${gridLocationId}`, body);

  /** Registers a user and starts a session for it. */
  async startNew(body?: object): Promise<SessionAnswer> {
    return (await this.start(await this.locate(), body)).body;
  }

  session = async (id: string, query = ''): Promise<SessionAnswer> =>
    (await this.call<SessionAnswer>('GET', `/onboarding/pv/${id}${query}`)).body;

  /** Every event there is, in the order of the feed. */
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

  /** The names of the events about a session, without prefix and suffix. */
  async eventsOf(sessionId: string): Promise<string[]> {
    const events = await this.events();
    return events
      .filter(({ subject }) => subject === sessionId)
      .map(({ type }) => type.replace(/^pv\.|\.v1$/g, ''));
  }
}
