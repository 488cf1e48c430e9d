import { randomBytes, randomUUID } from 'node:crypto';
import { planScenario, type ScenarioName } from './scenarios.js';
import { settle, type Session } from './session.js';

export interface User {
  readonly id: string;
  readonly tenantReference: string;
  readonly gridLocations: readonly { readonly id: string; readonly ean: string }[];
  readonly createdAt: number;
}

export interface Registration {
  readonly tenantReference: string;
  readonly eans: readonly string[];
}

/** The state that survives a restart. */
export interface Snapshot {
  readonly version: 1;
  readonly users: readonly User[];
  readonly sessions: readonly Session[];
  /** Access tokens, each with the instant at which it expires. */
  readonly tokens: readonly (readonly [string, number])[];
}

export class State {
  readonly #users = new Map<string, User>();
  readonly #sessions = new Map<string, Session>();
  readonly #userOfLocation = new Map<string, User>();
  readonly #sessionOfLink = new Map<string, Session>();
  readonly #tokens = new Map<string, number>();

  /** Called after every change. persistInFile sets it. */
  onChange: () => void = () => undefined;

  get users(): readonly User[] {
    return [...this.#users.values()];
  }

  get userCount(): number {
    return this.#users.size;
  }

  sessionsAt(now: number): readonly Session[] {
    return [...this.#sessions.values()].filter((session) => this.#settled(session, now));
  }

  issueToken(expiresAt: number, token = randomBytes(32).toString('base64url')): string {
    this.#tokens.set(token, expiresAt);
    this.onChange();
    return token;
  }

  isTokenValid(token: string, now: number): boolean {
    const expiresAt = this.#tokens.get(token);
    return expiresAt !== undefined && now < expiresAt;
  }

  /** Revokes all tokens. Returns their number. */
  revokeTokens(): number {
    const count = this.#tokens.size;
    this.#tokens.clear();
    this.onChange();
    return count;
  }

  /** Creates a user, even if the tenantReference exists: the interface does not say that references are unique. */
  registerUser(registration: Registration, now: number): User {
    const user: User = {
      id: randomUUID(),
      tenantReference: registration.tenantReference,
      gridLocations: registration.eans.map((ean) => ({ id: randomUUID(), ean })),
      createdAt: now,
    };
    this.#addUser(user);
    this.onChange();
    return user;
  }

  /** Starts a session. Returns null if the grid location does not exist. */
  startSession(
    gridLocationId: string,
    options: { readonly lifetimeMs: number; readonly scenario: ScenarioName; readonly speed: number },
    now: number,
  ): Session | null {
    const user = this.#userOfLocation.get(gridLocationId);
    if (user === undefined) return null;
    const createdAt = Math.floor(now / 1000) * 1000;
    const session: Session = {
      sessionId: randomUUID(),
      userId: user.id,
      gridLocationId,
      linkToken: randomBytes(24).toString('base64url'),
      createdAt,
      updatedAt: createdAt,
      expiresAt: createdAt + options.lifetimeMs,
      finished: false,
      active: true,
      expired: false,
      inverters: [],
      brand: null,
      signedIn: false,
      completedAt: null,
      deleted: false,
      scenario: options.scenario,
      planned: planScenario(options.scenario, options.speed, now),
      override: null,
    };
    this.#addSession(session);
    this.onChange();
    return session;
  }

  findSession(sessionId: string, now: number): Session | null {
    return this.#settled(this.#sessions.get(sessionId), now);
  }

  findSessionByLink(linkToken: string, now: number): Session | null {
    return this.#settled(this.#sessionOfLink.get(linkToken), now);
  }

  clear(): void {
    for (const map of [this.#users, this.#sessions, this.#userOfLocation, this.#sessionOfLink, this.#tokens])
      map.clear();
    this.onChange();
  }

  snapshot(): Snapshot {
    return {
      version: 1,
      users: [...this.#users.values()],
      sessions: [...this.#sessions.values()],
      tokens: [...this.#tokens],
    };
  }

  restore(snapshot: Snapshot): void {
    snapshot.users.forEach((user) => this.#addUser(user));
    snapshot.sessions.forEach((session) => this.#addSession(session));
    snapshot.tokens.forEach(([token, expiresAt]) => this.#tokens.set(token, expiresAt));
  }

  #settled(session: Session | undefined, now: number): Session | null {
    if (session === undefined) return null;
    if (settle(session, now)) this.onChange();
    return session.deleted ? null : session;
  }

  #addUser(user: User): void {
    this.#users.set(user.id, user);
    for (const location of user.gridLocations) this.#userOfLocation.set(location.id, user);
  }

  #addSession(session: Session): void {
    this.#sessions.set(session.sessionId, session);
    this.#sessionOfLink.set(session.linkToken, session);
  }
}
