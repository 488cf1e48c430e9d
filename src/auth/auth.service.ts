import { Injectable } from '@nestjs/common';
import { TokenStore } from './token.store.js';

/** The tenant's token as in GET /status: all but its value. */
export interface TokenStatus {
  /**
   * `none` before the first call; `expired` until the next call renews it; `on_trial` after a refusal, while one call tests whether the
   * service accepts a token again; `rejected` while the service refuses fresh tokens or the credentials.
   */
  readonly state: 'none' | 'valid' | 'expired' | 'on_trial' | 'rejected';
  /** Counts the tokens obtained. */
  readonly generation: number;
  readonly ageSeconds: number | null;
  readonly obtainedAt: Date | null;
  readonly renewAt: Date | null;
  readonly expiresAt: Date | null;
  /** `expires_in` and `token_type` as received (interface section 2.2). */
  readonly expiresInRaw: string | null;
  readonly tokenType: string | null;
  readonly rejectedAt: Date | null;
  readonly failures: number;
  readonly lastError: string | null;
  readonly nextAttemptAt: Date | null;
}

@Injectable()
export class AuthService {
  constructor(private readonly store: TokenStore) {}

  async status(now: Date = new Date()): Promise<TokenStatus> {
    const row = await this.store.findStatus();
    if (row === null) return NO_TOKEN;
    const { present, expired, leased, obtainedAt, ...shown } = row;
    const state = row.rejectedAt
      ? row.failures > 0 && !leased
        ? 'rejected'
        : 'on_trial'
      : !present
        ? 'none'
        : expired
          ? 'expired'
          : 'valid';
    const ageSeconds =
      obtainedAt === null ? null : Math.max(0, Math.round((now.getTime() - obtainedAt.getTime()) / 1_000));
    return { state, ...shown, obtainedAt, ageSeconds };
  }
}

const NO_TOKEN: TokenStatus = {
  state: 'none',
  generation: 0,
  ageSeconds: null,
  obtainedAt: null,
  renewAt: null,
  expiresAt: null,
  expiresInRaw: null,
  tokenType: null,
  rejectedAt: null,
  failures: 0,
  lastError: null,
  nextAttemptAt: null,
};
