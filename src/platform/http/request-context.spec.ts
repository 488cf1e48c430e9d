import { describe, expect, it } from '@jest/globals';
import { currentRequest, runInContext } from './request-context.js';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('the context of a request', () => {
  it('stays with its work to the end, even if other requests end meanwhile', async () => {
    const seen: unknown[] = [];
    const works = [1, 2].map((turns) => {
      let work = Promise.resolve();
      runInContext({ requestId: `r${turns}` }, () => {
        work = (async () => {
          for (let passed = 0; passed < turns; passed += 1) await turn();
          seen.push(currentRequest()?.requestId);
        })();
      });
      return work;
    });
    await Promise.all(works);
    expect(seen).toEqual(['r1', 'r2']);
  });

  it('does not exist between requests', () => {
    runInContext({ requestId: 'r2' }, () => expect(currentRequest()?.requestId).toBe('r2'));
    expect(currentRequest()).toBeUndefined();
    runInContext({ requestId: 'r3' }, () => expect(currentRequest()?.requestId).toBe('r3'));
  });
});
