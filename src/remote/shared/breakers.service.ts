import { Injectable, Logger } from '@nestjs/common';
import { Environment } from '../../platform/env/environment.js';
import { errorText } from '../../platform/redaction/error-text.js';
import type { OperationClass } from '../outcome.rules.js';
import { TRIALS } from '../pace/breaker.rules.js';
import { Remote } from '../remote.service.js';
import { OperationsStore, type SharedOperation } from './operations.store.js';

/** A trial may last this many times SCS_TIMEOUT_MS, because it also waits for its turn. */
const TRIAL_CALLS = 2;

/**
 * Shares the breakers of operations with TRIALS among all replicas. Otherwise calls would fail in every replica until its own breaker
 * opens. A process that starts during an outage finds the breaker open.
 */
@Injectable()
export class Breakers {
  private readonly logger = new Logger('Remote');
  /** The operations whose shared breaker was open when this replica last read it. */
  private readonly known = new Set<OperationClass>();
  /** Incremented before and after this replica writes a change. A state that was read in between may be older than the change. */
  private changes = 0;
  private writing = 0;

  constructor(
    private readonly remote: Remote,
    private readonly store: OperationsStore,
    private readonly environment: Environment,
  ) {}

  async claimTrial(operation: OperationClass): Promise<boolean> {
    const leaseMs = TRIAL_CALLS * this.environment.SCS_TIMEOUT_MS;
    return this.store.claimTrial(operation, leaseMs).catch((error: unknown) => {
      this.logger.warn(`could not claim a trial: ${errorText(error)}`);
      return false;
    });
  }

  /** Writes to the shared state that the breaker of this replica has opened or closed. */
  async tell(operation: OperationClass): Promise<void> {
    const { opening } = this.remote.gates[operation];
    if (TRIALS[operation] === undefined) return;
    this.changes++;
    this.writing++;
    try {
      await (opening === null
        ? this.store.closeBreaker(operation)
        : this.store.openBreaker(operation, opening.ms, opening.trials));
    } finally {
      this.changes++;
      this.writing--;
    }
  }

  async follow(read: () => Promise<SharedOperation[]>): Promise<SharedOperation[]> {
    const before = this.changes;
    const operations = await read();
    if (this.writing === 0 && this.changes === before) for (const shared of operations) this.apply(shared);
    return operations;
  }

  private apply({ operation, openMs, failedTrials }: SharedOperation): void {
    if (openMs !== null) {
      this.known.add(operation);
      this.remote.gates[operation].follow(openMs, failedTrials);
    } else if (this.known.delete(operation)) this.remote.gates[operation].resume();
  }
}
