export type SandboxOperation = 'token' | 'register_user' | 'start_session' | 'read_session' | 'probe';

/** One field per row of the table of faults in docs/sandbox.md. */
export interface SandboxFault {
  readonly kind:
    | 'delay'
    | 'hold'
    | 'answer'
    | 'redirect'
    | 'too_many_requests'
    | 'html'
    | 'reset'
    | 'truncate'
    | 'drip'
    | 'stall';
  readonly operation?: SandboxOperation | 'any';
  readonly contains?: string;
  readonly skip?: number;
  readonly times?: number | null;
  readonly effect?: boolean;
  readonly delayMs?: number;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly bodyBase64?: string;
  readonly repeat?: number;
  readonly location?: string;
  readonly retryAfter?: string;
  readonly intervalMs?: number;
  readonly chunkBytes?: number;
  readonly from?: 'headers' | 'body';
  readonly after?: 'nothing' | 'headers' | 'half';
}

export interface SandboxFaultState {
  readonly id: number;
  readonly kind: string;
  readonly left: number | null;
  readonly used: number;
  readonly holding: number;
}

export interface SandboxSettings {
  readonly sessionPath: 'both' | 'onboarding' | 'user';
  readonly tokenForm: 'timestamp' | 'seconds' | { readonly value?: unknown };
  readonly tokenLifetimeMs: number;
  readonly sessionLifetimeMs: number;
  readonly latencyMs: number;
  readonly maxInFlight: number;
  readonly overloadStatus: number;
  readonly overloadRetryAfter: string | null;
  readonly scenario: string;
  readonly speed: number;
  readonly brands: readonly {
    readonly id: string;
    readonly name: string;
    readonly onlineAfterMs: number | null;
  }[];
}

export interface SandboxSession {
  readonly sessionId: string;
  readonly userId: string;
  readonly gridLocationId: string;
  readonly linkToken: string;
  readonly finished: boolean;
  readonly active: boolean;
  readonly expired: boolean;
  readonly inverters: readonly string[];
  readonly brand: string | null;
  readonly completedAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly expiresAt: string;
}

export interface SandboxUser {
  readonly id: string;
  readonly tenantReference: string;
  readonly gridLocations: readonly { readonly id: string; readonly ean: string }[];
}

/** What had an effect and what was asked, whatever was answered. */
export interface SandboxLedger {
  readonly users: readonly {
    readonly at: number;
    readonly userId: string;
    readonly tenantReference: string;
    readonly eans: readonly string[];
    readonly body: string;
  }[];
  readonly sessions: readonly {
    readonly at: number;
    readonly sessionId: string;
    readonly gridLocationId: string;
  }[];
  readonly tokens: readonly { readonly at: number; readonly accessToken: string }[];
  readonly requests: Readonly<Record<string, number>>;
  readonly turnedAway: number;
  readonly inFlight: number;
  readonly maxInFlight: number;
  readonly maxConcurrentReadsOfOneSession: number;
  readonly reads: Readonly<
    Record<string, { readonly total: number; readonly inFlight: number; readonly maxInFlight: number }>
  >;
}

export interface SandboxRequest {
  readonly at: number;
  readonly operation: SandboxOperation;
  readonly path: string;
  readonly status: number | null;
}

export interface SeededUser {
  readonly userId: string;
  readonly tenantReference: string;
  readonly gridLocationId: string;
  readonly ean: string;
  readonly sessionId: string;
}

interface Items<T> {
  readonly items: readonly T[];
}

/** The control API of the sandbox, as docs/sandbox.md has it. A call that is refused throws with the reason. */
export class SandboxControl {
  constructor(private readonly url: string) {}

  users = async (): Promise<readonly SandboxUser[]> =>
    (await this.#call<Items<SandboxUser>>('GET', '/users')).items;
  sessions = async (): Promise<readonly SandboxSession[]> =>
    (await this.#call<Items<SandboxSession>>('GET', '/sessions')).items;
  session = (sessionId: string): Promise<SandboxSession> => this.#call('GET', `/sessions/${sessionId}`);

  /** Without a brand the installation stays offline until `online` is called, or for `onlineAfterMs`. */
  complete = (
    sessionId: string,
    options: { brand?: string; inverters?: number; onlineAfterMs?: number | null } = {},
  ): Promise<SandboxSession> => this.#call('POST', `/sessions/${sessionId}/complete`, options);
  online = (
    sessionId: string,
    options: { inverters?: number | readonly string[]; finished?: boolean } = {},
  ): Promise<SandboxSession> => this.#call('POST', `/sessions/${sessionId}/online`, options);
  removeInverter = (sessionId: string, inverterId: string): Promise<SandboxSession> =>
    this.#call('DELETE', `/sessions/${sessionId}/inverters/${inverterId}`);
  expire = (sessionId: string): Promise<SandboxSession> =>
    this.#call('POST', `/sessions/${sessionId}/expire`);
  /** Answers the fields of `set` verbatim and leaves out those in `absent`; empty, it takes the override back. */
  fields = (
    sessionId: string,
    override: { set?: Readonly<Record<string, unknown>>; absent?: readonly string[] } = {},
  ): Promise<SandboxSession> => this.#call('POST', `/sessions/${sessionId}/fields`, override);
  scenario = (sessionId: string, name: string, speed?: number): Promise<SandboxSession> =>
    this.#call('POST', `/sessions/${sessionId}/scenario`, { name, speed });
  deleteSession = (sessionId: string): Promise<SandboxSession> =>
    this.#call('DELETE', `/sessions/${sessionId}`);

  settings = (): Promise<SandboxSettings> => this.#call('GET', '/settings');
  change = (settings: Partial<SandboxSettings>): Promise<SandboxSettings> =>
    this.#call('PATCH', '/settings', settings);

  addFault = (fault: SandboxFault): Promise<SandboxFaultState> => this.#call('POST', '/faults', fault);
  faults = async (): Promise<readonly SandboxFaultState[]> =>
    (await this.#call<Items<SandboxFaultState>>('GET', '/faults')).items;
  release = (faultId: number): Promise<{ released: number }> =>
    this.#call('POST', `/faults/${faultId}/release`);
  clearFaults = (): Promise<void> => this.#call('DELETE', '/faults');

  revokeTokens = (): Promise<{ revoked: number }> => this.#call('POST', '/tokens/revoke');
  ledger = (): Promise<SandboxLedger> => this.#call('GET', '/ledger');
  requests = async (): Promise<readonly SandboxRequest[]> =>
    (await this.#call<Items<SandboxRequest>>('GET', '/requests')).items;
  /** Users with one grid location and an open session each, made without requests. */
  seed = async (users: number): Promise<readonly SeededUser[]> =>
    (await this.#call<Items<SeededUser>>('POST', '/seed', { users })).items;
  reset = (): Promise<void> => this.#call('POST', '/reset');

  async #call<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(`${this.url}/sandbox${path}`, {
      method,
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`The sandbox refused ${method} ${path}: ${response.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }
}
