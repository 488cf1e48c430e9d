import type { seedUser } from '../../../sandbox/control/routes.js';
import type { describeFault, FaultScript } from '../../../sandbox/faults.js';
import type { Ledger, Operation, RequestRecord } from '../../../sandbox/ledger.js';
import type { describeSession } from '../../../sandbox/control/session.routes.js';
import type { Settings } from '../../../sandbox/settings.js';
import type { State } from '../../../sandbox/state.js';

export type SandboxOperation = Operation;
export type SandboxFault = FaultScript;
export type SandboxSession = ReturnType<typeof describeSession>;
type SandboxUser = Pick<State['users'][number], 'id' | 'tenantReference' | 'gridLocations'>;
export type SandboxLedger = ReturnType<Ledger['report']>;
type FaultState = ReturnType<typeof describeFault>;
type SeededUser = ReturnType<typeof seedUser>;

interface Items<T> {
  readonly items: readonly T[];
}

/** Calls the sandbox's control API (sandbox/README.md). Throws with the reason if a call is refused. */
export class SandboxControl {
  constructor(private readonly url: string) {}

  users = async (): Promise<readonly SandboxUser[]> =>
    (await this.#call<Items<SandboxUser>>('GET', '/users')).items;
  sessions = async (): Promise<readonly SandboxSession[]> =>
    (await this.#call<Items<SandboxSession>>('GET', '/sessions')).items;
  session = (sessionId: string): Promise<SandboxSession> => this.#call('GET', `/sessions/${sessionId}`);

  /** Finishes the web flow. Default of `onlineAfterMs`: the delay of the brand, or null without a brand. If null, only `online` brings the session online. */
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
  /** Makes reads return the values in `set` and omit the fields in `absent`. An empty `override` makes reads normal again. */
  fields = (
    sessionId: string,
    override: { set?: Readonly<Record<string, unknown>>; absent?: readonly string[] } = {},
  ): Promise<SandboxSession> => this.#call('POST', `/sessions/${sessionId}/fields`, override);
  scenario = (sessionId: string, name: string, speed?: number): Promise<SandboxSession> =>
    this.#call('POST', `/sessions/${sessionId}/scenario`, { name, speed });
  deleteSession = (sessionId: string): Promise<SandboxSession> =>
    this.#call('DELETE', `/sessions/${sessionId}`);

  settings = (): Promise<Settings> => this.#call('GET', '/settings');
  change = (settings: Partial<Settings>): Promise<Settings> => this.#call('PATCH', '/settings', settings);

  /** Behaves like a recorded service from now on (sandbox/README.md). */
  like = (recording: object): Promise<void> => this.#call('POST', '/like', recording);

  addFault = (fault: SandboxFault): Promise<FaultState> => this.#call('POST', '/faults', fault);
  faults = async (): Promise<readonly FaultState[]> =>
    (await this.#call<Items<FaultState>>('GET', '/faults')).items;
  release = (faultId: number): Promise<{ released: number }> =>
    this.#call('POST', `/faults/${faultId}/release`);
  clearFaults = (): Promise<void> => this.#call('DELETE', '/faults');

  revokeTokens = (): Promise<{ revoked: number }> => this.#call('POST', '/tokens/revoke');
  ledger = (): Promise<SandboxLedger> => this.#call('GET', '/ledger');
  requests = async (): Promise<readonly RequestRecord[]> =>
    (await this.#call<Items<RequestRecord>>('GET', '/requests')).items;
  /** Creates users with one grid location and an open session each, without calls in the ledger. */
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
