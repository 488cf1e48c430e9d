import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { currentRequest, enterContext, runInContext } from './request-context.js';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const answer = (writableFinished: boolean) => Object.assign(new EventEmitter(), { writableFinished });

describe('the context of a request', () => {
  it('goes with its work to the end, also when others end meanwhile', async () => {
    const answers = [answer(true), answer(true)];
    const seen: unknown[] = [];
    const turns = answers.map((each, nth) => {
      let go = (): void => {};
      const later = new Promise<void>((resolve) => (go = resolve));
      enterContext({ requestId: `r${nth}` }, each, () => {
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

  it('stays with work that goes on for somebody who has hung up', async () => {
    const hungUp = answer(false);
    let seen: unknown;
    let work = Promise.resolve();
    enterContext({ requestId: 'r1' }, hungUp, () => {
      work = (async () => {
        await turn();
        hungUp.emit('close');
        await turn();
        seen = currentRequest()?.requestId;
      })();
    });
    await work;
    expect(seen).toBe('r1');
  });

  it('is there again after there was none, and for what is logged of a request without one', () => {
    runInContext({ requestId: 'r2' }, () => expect(currentRequest()?.requestId).toBe('r2'));
    expect(currentRequest()).toBeUndefined();
    runInContext({ requestId: 'r3' }, () => expect(currentRequest()?.requestId).toBe('r3'));
  });
});
