import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, jest } from '@jest/globals';
import { LOCK_START } from '../../../src/onboarding/start/starts.sql.js';
import { LOCK_FOR_OUTCOME, OPEN_INTENT } from '../../../src/users/registration/registrations.sql.js';
import { STATEMENT_FAULTS, type Sent, type StatementFault } from '../support/network/statement-proxy.js';
import { decide, deliver, erase, FLOWS, register, start, type Flow } from '../support/outcome-flows.js';
import { isLong, itAtLength, promise } from '../support/promise.js';
import { ServiceBehindProxy } from '../support/service-behind-proxy.js';

if (isLong) jest.setTimeout(3_600_000);

const LIMITS = { outcomeResponseWithinMs: 300, responseWithinMs: 1_000 };
/** The limit for the run with the bug: longer than a flow takes if one connection is silent. */
const BUG_WITHIN_MS = 2_500;
/** Statements that the service sends in this time, before the flow, come from background tasks and do not count as part of the flow. */
const BACKGROUND_MS = 3_000;

const service = new ServiceBehindProxy();

/** Runs a flow without a fault, and returns the keys of its statements. */
async function keysOf(flow: Flow): Promise<string[]> {
  const { proxy } = service;
  const run = await service.prepareAll(flow);
  proxy.forget();
  await sleep(BACKGROUND_MS);
  const background = new Set(proxy.keys().filter((key) => !key.startsWith('BEGIN')));
  proxy.forget();
  expect(await run()).toEqual([]);
  return proxy.keys().filter((key) => !background.has(key));
}

const isOutcomeOf = (statement: { readonly text: string }) => (key: string) => key === statement.text;
const isCommitAfter = (table: string) => (key: string) => key.startsWith('COMMIT') && key.includes(table);

/** Runs a flow with a fault at the first statement with such a key. Returns what the flow found; null if it did not send the statement. */
async function findAfter(
  flow: Flow,
  isIt: (key: string) => boolean,
  fault: StatementFault,
  withinMs?: number,
): Promise<string[] | null> {
  // The numbers of BEGINs start anew after the preparation.
  const isOf = () => {
    service.proxy.forget();
    return ({ key }: Sent) => isIt(key);
  };
  return service.findAfter(flow, isOf, fault, withinMs);
}

const SOME = [
  { flow: register, isIt: isOutcomeOf(OPEN_INTENT), fault: 'unanswered' },
  { flow: register, isIt: isOutcomeOf(LOCK_FOR_OUTCOME), fault: 'silent' },
  { flow: register, isIt: isCommitAfter('INTO domain_events'), fault: 'unanswered' },
  { flow: start, isIt: isOutcomeOf(LOCK_START), fault: 'silent' },
  { flow: start, isIt: isCommitAfter('INTO domain_events'), fault: 'unanswered' },
  { flow: deliver, isIt: isCommitAfter('webhook_'), fault: 'unanswered' },
  { flow: erase, isIt: isCommitAfter('audit_log'), fault: 'unanswered' },
  { flow: decide, isIt: isCommitAfter('audit_log'), fault: 'unanswered' },
] as const;

describe('R70: silence changes no outcome', () => {
  it('at some statements', async () => {
    await service.start(LIMITS);
    for (const { flow, isIt, fault } of SOME) expect(await findAfter(flow, isIt, fault)).toEqual([]);
  });

  itAtLength('at every statement', async () => {
    await service.start(LIMITS);
    const findings: string[] = [];
    let cases = 0;
    for (const flow of FLOWS) {
      for (const key of await keysOf(flow)) {
        for (const fault of STATEMENT_FAULTS) {
          const found = await findAfter(flow, (each) => each === key, fault);
          if (found !== null) cases += 1;
          findings.push(...(found ?? []).map((each) => `${flow.name}, ${fault} at ${key}: ${each}`));
        }
      }
    }
    promise('R70', {
      figure: `${findings.length} outcomes lost, doubled or uncertain in ${cases} cases`,
      bound: '0',
    });
    expect(findings).toEqual([]);
  });

  itAtLength('is red when the silent connection is given as much time as any other', async () => {
    await service.start({ ...LIMITS, outcomeResponseWithinMs: 2 * BUG_WITHIN_MS });
    const found = await findAfter(register, isOutcomeOf(LOCK_FOR_OUTCOME), 'silent', BUG_WITHIN_MS);
    expect(found).toEqual([expect.stringMatching(/^lost: /)]);
  });
});
