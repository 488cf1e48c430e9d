import { Injectable } from '@nestjs/common';
import { Environment } from '../platform/env/environment.js';
import { trialLeaseMs } from './tenant-tokens.service.js';
import { planToken } from './token-plan.rules.js';
import { TokenRequest } from './token-request.service.js';
import { TokenStore } from './token.store.js';

/**
 * The result of a probe of the credentials. The interface (section 7) documents no errors, so `refused` cannot say whether the API key or the
 * client was refused.
 * - `valid`: the token is valid and nothing has failed since it was obtained. Nothing was sent.
 * - `token_issued`: the service issued a token. If it has refused calls, the next call tests the token.
 * - `refused`: the service refused the token request (400, 401 or 403).
 * - `no_token`: there was no usable response, so nothing is known about the credentials.
 * - `too_soon`: another token request or trial runs, or there was a probe within the last 5 s. Nothing was sent.
 */
export const PROBE_OUTCOMES = ['valid', 'token_issued', 'refused', 'no_token', 'too_soon'] as const;
type ProbeOutcome = (typeof PROBE_OUTCOMES)[number];

/** The shortest time between two probes, for all replicas together. */
const PROBE_EVERY_MS = 5_000;

/** Requests a token at once, although the next attempt is due later. */
@Injectable()
export class CredentialsProbe {
  constructor(
    private readonly store: TokenStore,
    private readonly request: TokenRequest,
    private readonly environment: Environment,
  ) {}

  async probe(): Promise<ProbeOutcome> {
    const row = await this.store.read();
    if (planToken(row).kind === 'use' && row.failures === 0) return 'valid';
    const leaseMs = trialLeaseMs(this.environment);
    const lease = await this.store.claimProbe(row, leaseMs, PROBE_EVERY_MS);
    if (lease === null) return 'too_soon';
    // If calls were refused, a token alone does not end the block: a call must test the token first.
    const mustBeTested = row.ours && row.rejected;
    const obtained = await this.request.obtain(row, lease, mustBeTested ? leaseMs : null);
    if (obtained === null) return 'no_token';
    if (obtained.kind === 'not_sent')
      return obtained.reason === 'credentials_rejected' ? 'refused' : 'no_token';
    if (mustBeTested) await this.store.release(lease, 0);
    return 'token_issued';
  }
}
