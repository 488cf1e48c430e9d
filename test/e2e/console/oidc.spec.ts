import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OidcSignInController } from '../../../src/access/console/oidc-sign-in.controller.js';
import { IdentityProvider } from '../../../src/access/console/identity-provider.client.js';
import { Database } from '../../../src/platform/database/database.js';
import { itAtLength } from '../../faults/support/promise.js';
import { CLIENT, signInAtProvider, startIdentityProvider } from '../../setup/oidc/identity-provider.js';
import { freePort } from '../../setup/receivers/programs.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import type { TestProcess } from '../../setup/test-process.js';
import { startReplica, withReplica } from '../replica.js';
import { ConsoleBrowser } from './console-client.js';

const GROUPS = 'Night shift=users:read,events:read;leads=admin';
const MEMBERS = { ann: ['Night shift', 'everybody'], leo: ['leads', 'Night shift'], eve: ['everybody'] };
const KEYS = '/api/v1/api-keys';

let provider: TestProcess;
let service: TestApp;

const settings = (issuer: string) => ({
  CONSOLE_OIDC_ISSUER: issuer,
  CONSOLE_OIDC_CLIENT_ID: CLIENT.CLIENT_ID,
  CONSOLE_OIDC_CLIENT_SECRET: CLIENT.CLIENT_SECRET,
  CONSOLE_OIDC_GROUPS: GROUPS,
});

beforeAll(async () => {
  provider = await startIdentityProvider(MEMBERS);
  service = await startTestApp({ ...settings(provider.url), ROLE: 'api' });
});
afterAll(async () => {
  await service.close();
  await provider.stop();
});

/** Begins a sign-in. Returns the address at the provider, and the cookie of the flow. */
async function begin(at = service) {
  const response = await fetch(`${at.url}/console/sign-in`, { redirect: 'manual' });
  const [cookie = ''] = response.headers.getSetCookie();
  return { response, cookie, flow: cookie.split(';')[0]!, url: response.headers.get('location') ?? '' };
}

const comeBack = (browser: ConsoleBrowser, callback: string, flow: string) => {
  const { pathname, search } = new URL(callback);
  const headers = { cookie: flow, origin: undefined, 'x-console': undefined };
  return browser.send('GET', pathname + search, undefined, headers);
};

/** Signs in as a person does, from the first page to the callback. Returns the browser and the last response. */
async function signIn(login: string, at = service) {
  const { flow, url } = await begin(at);
  const callback = await signInAtProvider(url, login);
  const browser = new ConsoleBrowser(at);
  return { browser, callback, flow, response: await comeBack(browser, callback, flow) };
}

describe('the sign-in through the identity provider', () => {
  it('leads there with PKCE, state and nonce, which only this browser keeps', async () => {
    const { response, cookie, url } = await begin();
    expect(response.status).toBe(302);
    expect(url.startsWith(`${provider.url}/auth?`)).toBe(true);
    const asked = Object.fromEntries(new URL(url).searchParams);
    expect(asked).toEqual({
      client_id: CLIENT.CLIENT_ID,
      response_type: 'code',
      redirect_uri: `${service.url}/console/callback`,
      scope: 'openid profile groups',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    expect(cookie.replace(/=[\w-]{80,};/, '=sealed;')).toBe(
      'pvo_console_flow=sealed; Max-Age=600; Path=/console/callback; HttpOnly; SameSite=Lax',
    );
    expect((await begin()).url).not.toBe(url);
  });

  it('gives the scopes of the user’s groups, and the audit log the subject', async () => {
    const { browser, response } = await signIn('ann');
    expect([response.status, response.headers.get('location')]).toEqual([302, `${service.url}/console`]);
    expect(response.headers.getSetCookie()).toEqual([
      'pvo_console_flow=; Max-Age=0; Path=/console/callback; HttpOnly; SameSite=Lax',
      expect.stringMatching(/^pvo_console=[\w-]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/),
    ]);
    expect(await (await browser.send('GET', '/console/session')).json()).toEqual({
      name: 'The ann',
      scopes: ['users:read', 'events:read'],
      expiresAt: expect.any(String),
      signIn: 'oidc',
    });
    expect((await browser.send('GET', '/api/v1/users')).status).toBe(200);
    expect((await browser.send('GET', KEYS)).status).toBe(403);
    const lead = await signIn('leo');
    const created = await lead.browser.send('POST', KEYS, { name: 'an app', scopes: ['users:read'] });
    expect(created.status).toBe(201);
    const actors = await service.app
      .get(Database)
      .query(`SELECT actor, action FROM audit_log WHERE actor LIKE '%oidc%' ORDER BY id`);
    expect(actors).toEqual([
      { actor: 'console:oidc:ann', action: 'console.signed_in' },
      { actor: 'console:oidc:leo', action: 'console.signed_in' },
      { actor: 'console:oidc:leo', action: 'api_key.created' },
    ]);
  });

  it('refuses a user without a group that has scopes, with a page that says so', async () => {
    for (const login of ['eve', 'nobody']) {
      const { browser, response } = await signIn(login);
      expect(response.status).toBe(403);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(await response.text()).toContain('You have no access to this console');
      expect(browser.cookie).toBe('');
    }
  });

  it('refuses a way back with another state, and one that another browser began', async () => {
    const { flow, url } = await begin();
    const callback = await signInAtProvider(url, 'leo');
    const forged = new URL(callback);
    forged.searchParams.set('state', 'x'.repeat(43));
    const other = await begin();
    for (const [address, cookie] of [
      [forged.href, flow],
      [callback, other.flow],
    ] as const) {
      const browser = new ConsoleBrowser(service);
      const response = await comeBack(browser, address, cookie);
      expect(response.status).toBe(400);
      expect(await response.text()).toContain('The sign-in did not succeed');
      expect(browser.cookie).toBe('');
    }
  });

  it('refuses a code a second time', async () => {
    const { callback, flow } = await signIn('leo');
    const browser = new ConsoleBrowser(service);
    expect((await comeBack(browser, callback, flow)).status).toBe(400);
    expect(browser.cookie).toBe('');
  });

  it('refuses a flow that is over, altered or missing', async () => {
    const { url } = await begin();
    const callback = await signInAtProvider(url, 'leo');
    const parts = { state: 's', nonce: 'n', pkceCodeVerifier: 'v', expiresAt: Date.now() - 1 };
    const over = service.app.get(OidcSignInController).cookie.seal(parts);
    for (const flow of [`pvo_console_flow=${over}`, 'pvo_console_flow=x', '']) {
      const response = await comeBack(new ConsoleBrowser(service), callback, flow);
      expect(response.status).toBe(400);
      expect(await response.text()).toContain('This sign-in is over');
    }
  });

  it('shows what the provider refused as a page without its words', async () => {
    const { flow, url } = await begin();
    const state = new URL(url).searchParams.get('state')!;
    const callback = `${service.url}/console/callback?error=access_denied&error_description=<script>&state=${state}&iss=${provider.url}`;
    const response = await comeBack(new ConsoleBrowser(service), callback, flow);
    expect(response.status).toBe(400);
    expect(await response.text()).not.toContain('script>');
  });

  it('says so while the provider is away, and works when it is back, with the groups in the ID token too', async () => {
    const port = await freePort();
    await withReplica(service, { ROLE: 'api', ...settings(`http://127.0.0.1:${port}`) }, async (replica) => {
      const { response } = await begin(replica);
      expect(response.status).toBe(502);
      expect(await response.text()).toContain('The identity provider cannot be reached');
      const started = await startIdentityProvider(MEMBERS, { PORT: String(port), GROUPS_IN_TOKEN: 'true' });
      const { browser } = await signIn('ann', replica);
      expect((await browser.send('GET', '/api/v1/users')).status).toBe(200);
      await started.stop();
    });
  });

  it('takes the place of the sign-in with a key', async () => {
    const browser = new ConsoleBrowser(service);
    expect((await browser.signIn(service.adminKey)).status).toBe(404);
    const session = await browser.send('GET', '/console/session');
    expect([session.status, await session.json()]).toEqual([
      401,
      expect.objectContaining({ code: 'unauthenticated', signIn: 'oidc' }),
    ]);
    const page = await fetch(`${service.url}/console`);
    expect(page.headers.get('content-security-policy')).toContain(`form-action 'self' ${provider.url};`);
  });

  itAtLength('turns red when the state is not checked', async () => {
    await withReplica(service, settings(provider.url), async (careless) => {
      const identities = careless.app.get(IdentityProvider);
      const finish = identities.finish.bind(identities);
      identities.finish = (callback, flow) =>
        finish(callback, { ...flow, state: callback.searchParams.get('state')! });
      const { flow, url } = await begin(careless);
      const forged = new URL(await signInAtProvider(url, 'leo'));
      forged.searchParams.set('state', 'x'.repeat(43));
      expect((await comeBack(new ConsoleBrowser(careless), forged.href, flow)).status).toBe(302);
    });
  });
});

describe('a session of a user', () => {
  it('has the scopes that the configuration gives its groups now, and ends when the secret of the client changes', async () => {
    const [ann, leo] = [(await signIn('ann')).browser, (await signIn('leo')).browser];
    const responseAt = (replica: TestApp, { cookie }: ConsoleBrowser, path = '/api/v1/users') => {
      const there = new ConsoleBrowser(replica);
      there.cookie = cookie;
      return there.send('GET', path);
    };
    // The group of ann has no scopes any more, and that of leo has others.
    const groups = { CONSOLE_OIDC_GROUPS: 'leads=onboarding:read' };
    await withReplica(service, { ...settings(provider.url), ...groups, ROLE: 'api' }, async (changed) => {
      for (const browser of [ann, leo]) expect((await responseAt(changed, browser)).status).toBe(403);
      expect((await responseAt(changed, leo, '/api/v1/onboarding/pv')).status).toBe(200);
    });
    const secret = { CONSOLE_OIDC_CLIENT_SECRET: 'another-secret-of-the-client' };
    await withReplica(service, { ...settings(provider.url), ...secret, ROLE: 'api' }, async (changed) => {
      expect((await responseAt(changed, ann)).status).toBe(401);
    });
  });

  it('needs the origin and the header for a change, like that of a key', async () => {
    const { browser } = await signIn('leo');
    const foreign = { origin: 'https://evil.example' };
    const response = await browser.send('POST', KEYS, { name: 'x', scopes: ['admin'] }, foreign);
    expect(await response.json()).toMatchObject({ code: 'not_from_console' });
  });
});

it('names scopes that do not exist as an error of the configuration', async () => {
  const unknown = { ...settings(provider.url), CONSOLE_OIDC_GROUPS: 'leads=everything' };
  await expect(startReplica(service, unknown)).rejects.toThrow(
    'CONSOLE_OIDC_GROUPS must have scopes out of users:read',
  );
});
