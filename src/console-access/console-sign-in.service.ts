import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { nameLocks } from '../platform/database/table-locks.js';
import { Problem } from '../platform/problem/problem.js';
import { hashOf } from '../access/api-keys.store.js';
import { recordAudit } from '../access/audit-log.store.js';
import { Authentication } from '../access/authentication.service.js';
import { RateLimit } from '../access/rate-limit.js';
import { actorOf, type Principal } from '../access/scopes.js';

/** The most failed sign-ins per client network and minute: a person mistypes the key a few times. */
const FAILURES = { amount: 30, periodMs: 60_000 };

/** Checks the key of a sign-in, and records who signs in. */
@Injectable()
export class ConsoleSignIns {
  private readonly failures = new RateLimit('sign-in', FAILURES);

  constructor(
    private readonly authentication: Authentication,
    private readonly database: Database,
  ) {}

  /** Returns the hash of a valid key, else throws Problem. After too many failures, accepts only keys that this replica knows already. */
  async signIn(key: string, network: string): Promise<Buffer<ArrayBuffer>> {
    const { waitMs } = this.failures.take(network, performance.now());
    if (waitMs > 0 && this.authentication.mustQuery(key)) throw tooMany(waitMs);
    let principal: Principal | null | undefined;
    try {
      principal = await this.authentication.authenticate(key);
    } finally {
      // Undoes the count if the key is valid or its look-up threw.
      if (waitMs === 0 && principal !== null) this.failures.giveBack(network);
    }
    if (principal === null && waitMs > 0) throw tooMany(waitMs);
    if (principal === null) throw new Problem('unauthenticated', 'The key is malformed, unknown or revoked');
    await this.record(principal);
    return hashOf(key);
  }

  /** Records the beginning of a session in the audit log. */
  async record(principal: Principal): Promise<void> {
    const actor = actorOf({ ...principal, consoleUntil: 0 });
    const record = this.database.transaction((tx) => recordAudit(tx, { actor, action: 'console.signed_in' }));
    await record.catch((error: unknown) => nameLocks(this.database, error));
  }
}

const tooMany = (waitMs: number): Problem =>
  new Problem('too_many_requests', 'Too many failed sign-ins from this address', {
    retryAfterSeconds: waitMs / 1_000,
  });
