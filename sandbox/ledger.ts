export const OPERATIONS = ['token', 'register_user', 'start_session', 'read_session', 'probe'] as const;
export type Operation = (typeof OPERATIONS)[number];

interface UserEffect {
  readonly at: number;
  readonly userId: string;
  readonly tenantReference: string;
  readonly eans: readonly string[];
  /** The request body as received, so that tests can compare its bytes. */
  readonly body: string;
}

interface SessionEffect {
  readonly at: number;
  readonly sessionId: string;
  readonly gridLocationId: string;
}

interface Reads {
  total: number;
  inFlight: number;
  maxInFlight: number;
}

export interface RequestRecord {
  readonly at: number;
  readonly operation: Operation;
  readonly path: string;
  status: number | null;
}

const RECENT_REQUESTS = 2_000;

/** Records the effects of requests, whatever responses the client received. A restart clears the ledger, because it is only in memory. */
export class Ledger {
  #users: UserEffect[] = [];
  #sessions: SessionEffect[] = [];
  #tokens: { readonly at: number; readonly accessToken: string }[] = [];
  #reads = new Map<string, Reads>();
  #requests: Record<string, number> = {};
  #turnedAway = 0;
  #maxInFlight = 0;
  #recent: RequestRecord[] = [];
  #oldest = 0;
  inFlight = 0;

  userRegistered(effect: UserEffect): void {
    this.#users.push(effect);
  }

  sessionStarted(effect: SessionEffect): void {
    this.#sessions.push(effect);
  }

  tokenIssued(at: number, accessToken: string): void {
    this.#tokens.push({ at, accessToken });
  }

  requestTurnedAway(): void {
    this.#turnedAway += 1;
  }

  /** Records the start of a request. The returned function records its end; `status` is null if no response was sent. */
  requestArrived(
    operation: Operation,
    route: string,
    path: string,
    sessionId: string | null,
  ): (status: number | null) => void {
    const record: RequestRecord = { at: Date.now(), operation, path, status: null };
    const reads = sessionId === null ? null : this.#readsOf(sessionId);
    this.#requests[route] = (this.#requests[route] ?? 0) + 1;
    this.#remember(record);
    this.inFlight += 1;
    this.#maxInFlight = Math.max(this.#maxInFlight, this.inFlight);
    if (reads) {
      reads.total += 1;
      reads.inFlight += 1;
      reads.maxInFlight = Math.max(reads.maxInFlight, reads.inFlight);
    }
    return (status) => {
      record.status = status;
      this.inFlight -= 1;
      if (reads) reads.inFlight -= 1;
    };
  }

  /** Clears everything but the number of requests in flight. */
  clear(): void {
    this.#users = [];
    this.#sessions = [];
    this.#tokens = [];
    this.#reads = new Map();
    this.#requests = {};
    this.#turnedAway = 0;
    this.#maxInFlight = this.inFlight;
    this.#recent = [];
    this.#oldest = 0;
  }

  /** Returns the last RECENT_REQUESTS requests, oldest first. */
  recentRequests(): readonly RequestRecord[] {
    return [...this.#recent.slice(this.#oldest), ...this.#recent.slice(0, this.#oldest)];
  }

  report() {
    let maxConcurrentReadsOfOneSession = 0;
    for (const reads of this.#reads.values()) {
      maxConcurrentReadsOfOneSession = Math.max(maxConcurrentReadsOfOneSession, reads.maxInFlight);
    }
    return {
      users: this.#users,
      sessions: this.#sessions,
      tokens: this.#tokens,
      requests: this.#requests,
      turnedAway: this.#turnedAway,
      inFlight: this.inFlight,
      maxInFlight: this.#maxInFlight,
      maxConcurrentReadsOfOneSession,
      reads: Object.fromEntries(this.#reads),
    };
  }

  #readsOf(sessionId: string): Reads {
    let reads = this.#reads.get(sessionId);
    if (reads === undefined) this.#reads.set(sessionId, (reads = { total: 0, inFlight: 0, maxInFlight: 0 }));
    return reads;
  }

  #remember(record: RequestRecord): void {
    if (this.#recent.length < RECENT_REQUESTS) {
      this.#recent.push(record);
      return;
    }
    this.#recent[this.#oldest] = record;
    this.#oldest = (this.#oldest + 1) % RECENT_REQUESTS;
  }
}
