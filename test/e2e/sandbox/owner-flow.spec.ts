import { beforeEach, describe, expect, it } from '@jest/globals';
import type { RawClient } from '../../contract/raw-client.js';
import {
  authorisedClientOf,
  startRemoteSession,
  type StartedSession,
  useSandbox,
} from '../../setup/sandbox/sandbox-client.js';
import { waitFor } from '../../setup/wait-for.js';

const ALLOWED: [string, string][] = [
  ['allow', 'monitoring'],
  ['allow', 'curtailment'],
];
const CREDENTIALS: [string, string][] = [
  ['email', 'owner@example.com'],
  ['password', 'anything'],
];

describe('the web flow of the owner', () => {
  const sandbox = useSandbox();
  let client: RawClient;
  let session: StartedSession;
  beforeEach(async () => {
    await sandbox.control.reset();
    client = await authorisedClientOf(sandbox);
    session = await startRemoteSession(client);
  });

  const open = async (): Promise<{ status: number; text: string }> => {
    const response = await fetch(session.startUrl);
    return { status: response.status, text: await response.text() };
  };
  const submit = async (step: string, fields: [string, string][] = []) => {
    const response = await fetch(`${session.startUrl}/${step}`, {
      method: 'POST',
      body: new URLSearchParams(fields),
    });
    return { status: response.status, text: await response.text() };
  };
  const signIn = async (brand: string): Promise<void> => {
    await submit('brand', [['brand', brand]]);
    await submit('sign-in', CREDENTIALS);
  };
  const read = async () => JSON.parse((await client.read(session.sessionId)).text);

  it('leads through brand, sign-in and permissions to the end', async () => {
    const { text } = await open();
    expect(text).toContain('Which brand is your inverter?');
    expect(text).toContain('Manual (comes online by a button of the sandbox)');
    expect(text).not.toMatch(/(Heliotec|Sunward) \(/);
    expect((await submit('brand', [['brand', 'manual']])).text).toContain('Sign in at Manual');
    // The page says that any text works, so the browser must not insist on an address.
    expect((await open()).text).not.toContain('type="email"');
    const signedIn = await submit('sign-in', CREDENTIALS);
    expect(signedIn.text).toContain('Allow monitoring and curtailment');
    expect((await submit('authorise', [['installation', '0'], ...ALLOWED])).text).toContain('Thank you');
    expect((await open()).text).toContain('Thank you');
  });

  it.each([
    ['nl-BE,fr;q=0.8', 'nl', 'Van welk merk is uw omvormer?'],
    ['es, fr-CA;q=0.8', 'fr', 'De quelle marque est votre onduleur ?'],
    ['de', 'de', 'Von welcher Marke ist Ihr Wechselrichter?'],
    ['es', 'en', 'Which brand is your inverter?'],
  ])('is with Accept-Language %s in %s', async (accepted, lang, title) => {
    const response = await fetch(session.startUrl, { headers: { 'accept-language': accepted } });
    const text = await response.text();
    expect(text).toContain(`<html lang="${lang}">`);
    expect(text).toContain(title);
  });

  it('brings the chosen installations online after the delay of the brand', async () => {
    const brands = [{ id: 'quick', name: 'Quick', onlineAfterMs: 3_000 }];
    await sandbox.control.change({ brands });
    await signIn('quick');
    await submit('authorise', [['installation', '0'], ['installation', '2'], ...ALLOWED]);
    expect(await read()).toMatchObject({ finished: false, inverters: [] });
    const online = await waitFor('the installation to be online', async () => {
      const current = await read();
      return current.finished && current;
    });
    expect(online).toMatchObject({ finished: true, active: false, expired: false });
    expect(online.inverters).toHaveLength(2);
  });

  it('names what is missing and stays at the step', async () => {
    expect(await submit('brand', [['brand', 'another']])).toMatchObject({ status: 400 });
    await submit('brand', [['brand', 'manual']]);
    expect(await submit('sign-in', CREDENTIALS.slice(0, 1))).toMatchObject({ status: 400 });
    await signIn('manual');
    const refused = await submit('authorise', [
      ['installation', '0'],
      ['allow', 'monitoring'],
    ]);
    expect(refused).toMatchObject({
      status: 400,
      text: expect.stringContaining('Both permissions are needed.'),
    });
    expect(await read()).toMatchObject({ finished: false, inverters: [] });
    expect((await sandbox.control.session(session.sessionId)).completedAt).toBeNull();
  });

  it('has one page for links that are unknown, expired or deleted', async () => {
    const unknown = await fetch(`${sandbox.url}/pv-onboarding/unknown`);
    expect([unknown.status, await unknown.text()]).toEqual([404, expect.stringContaining('not valid')]);
    await sandbox.control.expire(session.sessionId);
    expect(await open()).toMatchObject({ status: 404, text: expect.stringContaining('not valid') });
    await sandbox.control.deleteSession(session.sessionId);
    expect(await open()).toMatchObject({ status: 404 });
    expect(await submit('brand', [['brand', 'manual']])).toMatchObject({ status: 404 });
  });

  it('has an icon that its pages may show', async () => {
    const icon = await fetch(`${sandbox.url}/favicon.ico`);
    expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
    const { headers } = await fetch(session.startUrl);
    expect(headers.get('content-security-policy')).toContain("img-src 'self'");
  });

  it('escapes foreign text in its pages', async () => {
    await client.register('<script>alert(1)</script>', ['541448860000000013']);
    const text = await (await fetch(sandbox.url)).text();
    expect(text).toContain('&#60;script&#62;');
    expect(text).not.toContain('<script');
  });
});
