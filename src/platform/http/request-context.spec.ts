import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { currentRequest, enterContext, runInContext } from './request-context.js';

describe('the context of a request', () => {
  it('goes with its work to the end, also when others end meanwhile', async () => {
    const answers = [new EventEmitter(), new EventEmitter()];
    const seen: unknown[] = [];
    const turns = answers.map((answer, nth) => {
      let go = (): void => {};
      const later = new Promise<void>((resolve) => (go = resolve));
      enterContext({ requestId: `r${nth}` }, answer, () => {
        void later.then(() => seen.push(currentRequest()?.requestId));
      });
      return async () => {
        go();
        await later;
      };
    });
    answers[0]!.emit('close');
    await turns[1]!();
    expect(seen).toEqual(['r1']);
    answers[1]!.emit('close');
    expect(currentRequest()).toBeUndefined();
  });

  it('is there again after there was none, and for what is logged of a request without one', () => {
    runInContext({ requestId: 'r2' }, () => expect(currentRequest()?.requestId).toBe('r2'));
    expect(currentRequest()).toBeUndefined();
    runInContext({ requestId: 'r3' }, () => expect(currentRequest()?.requestId).toBe('r3'));
  });
});
