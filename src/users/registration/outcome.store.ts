import type { Transaction } from '../../platform/database/database.js';
import type { UserRecord } from '../user/user.view.js';
import { getUser } from '../user/users.store.js';
import { appendOutcomes, appendPending, confirmUser, moveRegistration } from './confirm-user.store.js';
import { planOutcome, type CalledRegistration, type Claim, type Settlement } from './registration.rules.js';
import { LOCK_FOR_OUTCOME } from './registrations.sql.js';

export type Settled =
  | { readonly status: 'registered'; readonly user: UserRecord }
  | { readonly status: 'rejected' | 'pending' | 'uncertain' };

/** Stores the outcome of a call and its event. Returns null if a newer call or a decision has made the claim stale. May be repeated. */
export async function storeOutcome(
  tx: Transaction,
  claim: Claim,
  settlement: Settlement,
): Promise<Settled | null> {
  const fence = [claim.id, claim.attempts, claim.leaseToken];
  const [called] = await tx.query<CalledRegistration>(LOCK_FOR_OUTCOME, fence);
  const plan = planOutcome(called, settlement);
  if (plan === 'stale') return null;
  const isStored = plan === 'stored';
  if (settlement.status === 'registered') {
    const { user } = settlement;
    return {
      status: 'registered',
      user: await (isStored ? getUser(tx, user.id) : confirmUser(tx, claim, user)),
    };
  }
  if (isStored) return { status: settlement.status };
  await moveRegistration(tx, claim.id, settlement);
  if (settlement.status === 'pending') await appendPending(tx, claim, settlement.lastError);
  else await appendOutcomes(tx, settlement.status, [claim], settlement.reason);
  return { status: settlement.status };
}
