import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { TestClient, type UserAnswer } from '../../setup/client.js';
import { newValidEan } from '../../setup/ean.js';
import { useTestApp } from '../../setup/test-app.js';

const WRONG = '376104250021234560';

interface Body extends UserAnswer {
  readonly warnings: readonly { readonly field: string; readonly code: string; readonly message: string }[];
}

describe('the warnings of POST /users', () => {
  const service = useTestApp();
  const client = TestClient.of(service);

  const register = (tenantReference: string, ...eans: string[]) => {
    const gridLocations = eans.map((ean) => ({ ean }));
    return client.call<Body>('POST', '/users', { tenantReference, gridLocations });
  };
  const warnedOf = async (tenantReference: string, ...eans: string[]) => {
    const { status, body } = await register(tenantReference, ...eans);
    return [status, ...body.warnings.map(({ field, code, message }) => `${field} ${code}: ${message}`)];
  };
  const elsewhere = (index: number, others: string) =>
    `gridLocations[${index}].ean ean_elsewhere: ${others} this EAN`;

  it('are empty if nothing is conspicuous', async () => {
    expect(await warnedOf(randomUUID(), newValidEan())).toEqual([201]);
  });

  it('name the EAN with a wrong check digit, also when the registration is repeated or waits', async () => {
    const warning =
      'gridLocations[1].ean ean_check_digit: does not end with its GS1 check digit; a digit is probably mistyped';
    const [reference, waiting] = [randomUUID(), randomUUID()];
    const eans = [newValidEan(), WRONG];
    expect(await warnedOf(reference, ...eans)).toEqual([201, warning]);
    expect(await warnedOf(reference, ...eans)).toEqual([200, warning]);
    await service.sandbox!.control.addFault({ kind: 'reset', contains: waiting });
    expect((await warnedOf(waiting, newValidEan(), WRONG)).slice(0, 2)).toEqual([202, warning]);
  });

  it('say how many other references have an EAN, whether they wait or are registered, but not which', async () => {
    const [first, second, third] = ['elsewhere-1', 'elsewhere-2', 'elsewhere-3'];
    const [ean, own] = [newValidEan(), newValidEan()];
    expect(await warnedOf(first, ean)).toEqual([201]);
    await service.sandbox!.control.addFault({ kind: 'reset', contains: second });
    expect(await warnedOf(second, ean)).toEqual([202, elsewhere(0, '1 other tenantReference has')]);
    const { status, text } = await register(third, own, ean);
    expect(status).toBe(201);
    expect(text).not.toMatch(/elsewhere-[12]/);
    const both = elsewhere(1, '2 other tenantReferences have');
    expect(await warnedOf(third, own, ean)).toEqual([200, both]);
    expect(await warnedOf(first, ean)).toEqual([200, elsewhere(0, '2 other tenantReferences have')]);
  });
});
