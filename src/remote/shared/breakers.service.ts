import { Injectable, Logger } from '@nestjs/common';
import { Environment } from '../../platform/env/environment.js';
import { errorText } from '../../observability/redaction/error-text.js';
import type { OperationClass } from '../outcome.rules.js';
import { TRIALS } from '../pace/breaker.rules.js';
import { Remote } from '../remote.service.js';
import { OperationsStore, type SharedOperation } from './operations.store.js';

/** How many times SCS_TIMEOUT_MS a trial may last: it waits for its slot, too. */
const TRIAL_CALLS = 2;

/**
 * Makes one breaker of those of all replicas, for operations whose calls are tried after a check: otherwise each replica would lose as many
 * calls to an outage. A process that starts during the outage finds it open.
 */
@Injectable()
export class Breakers {
  private readonly logger = new Logger('Remote');
  /** The operations whose breaker was open in all replicas, when it was last read. */
  private readonly known = new Set<OperationClass>();
  /** Incremented when a change of this replica begins and ends to be written. What was read meanwhile may be older. */
  private changes = 0;
  private writing = 0;

  constructor(
    private readonly remote: Remote,
    private readonly store: OperationsStore,
    private readonly environment: Environment,
  ) {}

  /** Returns whether this replica may try a call now. */
  async claimTrial(operation: OperationClass): Promise<boolean> {
    const leaseMs = TRIAL_CALLS * this.environment.SCS_TIMEOUT_MS;
    return this.store.claimTrial(operation, leaseMs).catch((error: unknown) => {
      this.logger.warn(`could not claim a trial: ${errorText(error)}`);
      return false;
    });
  }

  /** Tells the other replicas that the breaker of this one has opened or closed. */
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

  /** Reads the shared state with `read`, and follows it. */
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
