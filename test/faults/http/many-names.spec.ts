import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { plainToInstance } from 'class-transformer';
import { startHttpFixture } from '../../e2e/http/http-fixture.js';
import { inTime, isLong, itAtLength, measureUntil, promise } from '../support/promise.js';

const NAMES = 26_000;
const MOST_MS = 25;
const TIMES = isLong ? 20 : 3;

const names = (count: number) =>
  Array.from({ length: count }, (_, nth) => `"${nth.toString(36)}":1`).join(',');

/** Bodies of 26,000 names and of as many elements, in every place where a body may have them. */
const BODIES: Readonly<Record<string, string>> = {
  'at the top': `{${names(NAMES)}}`,
  'in free-form data': `{"items":[{"name":"a"}],"metadata":{${names(NAMES)}}}`,
  'in an item': `{"items":[{${names(NAMES)}}]}`,
  'in a list': `{"items":[${Array.from({ length: 26 }, () => `{${names(900)}}`).join(',')}]}`,
  'each in an item': `{"items":[${'{"a":1},'.repeat(NAMES)}{}]}`,
  'as elements': `{"items":[${'1,'.repeat(4 * NAMES)}1]}`,
  'in a broken body': `{${names(NAMES)}`,
};

describe('R79: many names hold up nobody', () => {
  let fixture: Awaited<ReturnType<typeof startHttpFixture>>;
  beforeAll(async () => {
    fixture = await startHttpFixture();
  });
  afterAll(() => fixture.app.close());

  /** Returns the CPU time of a request in milliseconds, without that of a request with one name. */
  async function cpuMsOf(body: string): Promise<number> {
    const headers = { 'content-type': 'application/json' };
    const send = async (text: string): Promise<number> => {
      const before = process.cpuUsage();
      for (let time = 0; time < TIMES; time += 1) {
        const init = { method: 'POST', headers, body: text };
        const response = await fetch(`${fixture.url}/api/v1/things`, init);
        expect(response.status).toBe(400);
        await response.text();
      }
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000 / TIMES;
    };
    await send(body);
    // The same bytes as one text, so that only the names count.
    const plain = await send(JSON.stringify({ a: 'x'.repeat(body.length - 8) }));
    return (await send(body)) - plain;
  }

  it.each(Object.keys(BODIES))('%s', async (place) => {
    const ms = await measureUntil(
      (figure) => figure < MOST_MS,
      () => cpuMsOf(BODIES[place]!),
    );
    promise('R79', { figure: `${ms.toFixed(1)} ms for ${NAMES} names ${place}`, bound: `${MOST_MS} ms` });
    expect(ms).toBeLessThan(inTime(MOST_MS));
  });

  itAtLength('turns red when an object is made of the names before they are counted', () => {
    class Anything {}
    const before = process.cpuUsage();
    plainToInstance(Anything, JSON.parse(BODIES['at the top']!));
    expect(process.cpuUsage(before).user / 1_000).toBeGreaterThan(MOST_MS);
  });
});
