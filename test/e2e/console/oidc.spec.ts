import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { OidcSignInController } from '../../../src/console-access/oidc-sign-in.controller.js';
import { SignInFlows } from '../../../src/console-access/sign-in-flows.service.js';
import { signInFault } from '../../../src/console-access/sign-in-fault.js';
import { Environment } from '../../../src/platform/env/environment.js';
import { IdentityProvider } from '../../../src/console-access/identity-provider.client.js';
import { itAtLength } from '../../faults/support/promise.js';
import { CLIENT, signInAtProvider, startIdentityProvider } from '../../setup/oidc/identity-provider.js';
import { freePort } from '../../../src/local/free-port.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import type { TestProcess } from '../../setup/processes/test-process.js';
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
      `pvo_console_flow_${asked.state!.slice(0, 16)}=sealed; Max-Age=600; Path=/console; HttpOnly; SameSite=Lax`,
    );
    expect((await begin()).url).not.toBe(url);
  });

  it('gives the scopes of the user’s groups, and the audit log the subject', async () => {
    const { browser, response } = await signIn('ann');
    expect([response.status, response.headers.get('location')]).toEqual([302, `${service.url}/console`]);
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^pvo_console_flow_[\w-]{16}=; Max-Age=0; Path=\/console; HttpOnly; SameSite=Lax$/,
      ),
      expect.stringMatching(/^pvo_console=[\w-]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/),
    ]);
    expect(await (await browser.send('GET', '/console/session')).json()).toEqual({
      actor: expect.stringMatching(/^console:oidc:./),
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
    const actors = await service.database.query(
      `SELECT actor, action FROM audit_log WHERE actor LIKE '%oidc%' ORDER BY id`,
    );
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
    const state = new URL(callback).searchParams.get('state')!;
    const withState = (other: string) => {
      const forged = new URL(callback);
      forged.searchParams.set('state', other);
      return forged.href;
    };
    const other = await begin();
    for (const [address, cookie, text] of [
      [withState('x'.repeat(43)), flow, 'This sign-in is over'],
      [withState(''), flow, 'This sign-in is over'],
      [callback, other.flow, 'This sign-in is over'],
      // The name of the cookie is the beginning of the state, so only the whole state tells these apart.
      [withState(state.slice(0, 16) + 'x'.repeat(27)), flow, 'The sign-in did not succeed'],
    ] as const) {
      const browser = new ConsoleBrowser(service);
      const response = await comeBack(browser, address, cookie);
      expect(response.status).toBe(400);
      expect(await response.text()).toContain(text);
      expect(browser.cookie).toBe('');
    }
  });

  it('takes a flow once, at whichever replica', async () => {
    const { callback, flow } = await signIn('leo');
    await withReplica(service, { ...settings(provider.url), ROLE: 'api' }, async (replica) => {
      const finish = jest.spyOn(replica.app.get(IdentityProvider), 'finish');
      const browser = new ConsoleBrowser(replica);
      const response = await comeBack(browser, callback, flow);
      expect([response.status, browser.cookie]).toEqual([400, '']);
      expect(await response.text()).toContain('This sign-in is over');
      expect(finish).not.toHaveBeenCalled();
    });
  });

  it('lets two tabs sign in at the same time, and keeps at most five flows in a browser', async () => {
    const tabs = [await begin(), await begin()];
    const cookies = tabs.map(({ flow }) => flow).join('; ');
    const callbacks = await Promise.all(tabs.map(({ url }) => signInAtProvider(url, 'ann')));
    for (const callback of callbacks) {
      const browser = new ConsoleBrowser(service);
      expect((await comeBack(browser, callback, cookies)).status).toBe(302);
      expect((await browser.send('GET', '/api/v1/users')).status).toBe(200);
    }
    const flows: string[] = [];
    for (let tab = 0; tab < 7; tab++) {
      const response = await fetch(`${service.url}/console/sign-in`, {
        redirect: 'manual',
        headers: { cookie: flows.join('; ') },
      });
      for (const line of response.headers.getSetCookie()) {
        const pair = line.split(';')[0]!;
        const known = flows.findIndex((each) => each.split('=')[0] === pair.split('=')[0]);
        if (known === -1) flows.push(pair);
        else flows.splice(known, 1);
      }
    }
    expect(flows).toHaveLength(5);
  });

  it('limits the callbacks of an address, and counts none that begins a session', async () => {
    await withReplica(service, { ...settings(provider.url), ROLE: 'api' }, async (replica) => {
      for (let sign = 0; sign < 2; sign++) expect((await signIn('ann', replica)).response.status).toBe(302);
      const statuses: number[] = [];
      // One more is taken every 2 s, so a slow machine needs more than 31.
      while (statuses.at(-1) !== 429 && statuses.length < 200) {
        const browser = new ConsoleBrowser(replica);
        const response = await comeBack(browser, `${replica.url}/console/callback?code=x&state=y`, '');
        statuses.push(response.status);
        if (response.status === 429) expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
      }
      expect(statuses.slice(0, 30)).toEqual(Array(30).fill(400));
      expect(statuses.at(-1)).toBe(429);
    });
  });

  it('logs what the provider said, and the claim at fault, without secrets', async () => {
    const controller = service.app.get(OidcSignInController);
    const warn = jest.spyOn(controller['logger'], 'warn');
    const logged = () => String(warn.mock.calls.at(-1)?.[0]);
    const { flow, url } = await begin();
    const state = new URL(url).searchParams.get('state')!;
    const said = `error=access_denied&error_description=AADSTS50105%3A+not+assigned%0Ato+a+role+of+ann%40example.com`;
    await comeBack(
      new ConsoleBrowser(service),
      `${service.url}/console/callback?${said}&state=${state}&iss=${provider.url}`,
      flow,
    );
    expect(logged()).toContain('the provider says: access_denied');
    expect(logged()).toContain('AADSTS50105: not assigned to a role of [email]');
    const other = await begin();
    const callback = await signInAtProvider(other.url, 'leo');
    const cookie = service.app.get(SignInFlows).cookieOf(new URL(other.url).searchParams.get('state')!);
    const [name, sealed = ''] = other.flow.split('=');
    const stored = cookie.read({ headers: { cookie: `${name}=${sealed}` } })!;
    await comeBack(
      new ConsoleBrowser(service),
      callback,
      `${name}=${cookie.seal({ ...stored, nonce: 'another' })}`,
    );
    expect(logged()).toContain('"nonce"');
    const again = await begin();
    const back = new URL(await signInAtProvider(again.url, 'leo'));
    const code = back.searchParams.get('code')!;
    back.searchParams.set('code', 'x'.repeat(43));
    await comeBack(new ConsoleBrowser(service), back.href, again.flow);
    expect(logged()).toContain('the provider says: invalid_grant');
    for (const [line] of warn.mock.calls) expect(String(line)).not.toContain(code);
    // Some providers leave out the state with an error.
    for (const query of ['', '&state=unknown']) {
      const without = `${service.url}/console/callback?error=server_error&error_description=AADSTS90033${query}`;
      expect((await comeBack(new ConsoleBrowser(service), without, '')).status).toBe(400);
      expect(logged()).toContain('the provider says: server_error; the provider says: AADSTS90033');
      warn.mockClear();
    }
    warn.mockRestore();
  });

  it('logs the configured and the stated issuer, if they differ', async () => {
    const server = createServer((request, response) => {
      const issuer = request.url!.startsWith('/right') ? `${url}/right` : `${url}/realms/company/?key=canary`;
      const endpoints = { authorization_endpoint: `${url}/a`, token_endpoint: `${url}/right/token` };
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const claims = { iss: `${url}/old`, aud: CLIENT.CLIENT_ID, sub: 'ann', iat: 1, exp: 1e11, nonce: 'n' };
      const id_token = `${part({ alg: 'RS256' })}.${part(claims)}.AAAA`;
      const tokens = { access_token: 'canary', token_type: 'bearer', id_token };
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify(
          request.url === '/right/token' ? tokens : { issuer, ...endpoints, jwks_uri: `${url}/j` },
        ),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const at = (path: string) =>
      new IdentityProvider({ ...service.app.get(Environment), CONSOLE_OIDC_ISSUER: url + path });
    const flow = { state: 's', nonce: 'n', pkceCodeVerifier: 'v'.repeat(43) };
    const faultOf = (path: string, query = '') =>
      at(path)
        .finish(new URL(`${service.url}/console/callback?state=s&code=canary${query}`), flow)
        .then(String, signInFault);
    const said = (expected: string, stated: string) =>
      `the expected issuer is ${url}${expected}, the provider states ${stated} (see CONSOLE_OIDC_ISSUER)`;
    const faults = [
      await faultOf('/wrong'),
      await faultOf('/right'),
      await faultOf(
        '/right',
        `&iss=${encodeURIComponent(`https://u:canary@evil.example/${'x'.repeat(900)}`)}`,
      ),
    ];
    server.close();
    expect(faults[0]).toContain(said('/wrong', `${url}/realms/company/`));
    expect(faults[1]).toContain(said('/right', `${url}/old`));
    expect(faults[2]).toContain(said('/right', 'https://evil.example/[redacted]'));
    expect(String(faults)).not.toContain('canary');
  });

  it('reads the description and the keys of the provider again after a failed sign-in, and after an hour', async () => {
    let authorization = 'before';
    const server = createServer(({ url: path }, response) => {
      response.statusCode = path === '/token' ? 500 : 200;
      response.setHeader('content-type', 'application/json');
      const authorization_endpoint = `${url}/${authorization}`;
      response.end(JSON.stringify({ issuer: url, authorization_endpoint, token_endpoint: `${url}/token` }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const at = new IdentityProvider({ ...service.app.get(Environment), CONSOLE_OIDC_ISSUER: url });
    const { flow } = await at.begin(service.url);
    authorization = 'after';
    expect((await at.begin(service.url)).url.pathname).toBe('/before');
    const callback = new URL(`?code=c&state=${flow.state}`, service.url);
    expect(await at.finish(callback, flow).then(String, signInFault)).toContain(`status 500 of ${url}/token`);
    expect((await at.begin(service.url)).url.pathname).toBe('/after');
    // A user who is sent to an endpoint that has moved does not come back, so no callback fails.
    authorization = 'moved';
    const later = performance.now() + 3_600_000;
    const clock = jest.spyOn(performance, 'now').mockReturnValue(later);
    expect((await at.begin(service.url)).url.pathname).toBe('/moved');
    clock.mockRestore();
    server.close();
  });

  it('says that the provider left the groups out', async () => {
    const identities = service.app.get(IdentityProvider);
    const finish = jest
      .spyOn(identities, 'finish')
      .mockResolvedValue({ subject: 'ann', name: 'Ann', groups: [], leftOut: 'hasgroups' });
    const warn = jest.spyOn(service.app.get(OidcSignInController)['logger'], 'warn');
    const { response } = await signIn('ann');
    expect(response.status).toBe(403);
    expect(await response.text()).toContain('left out your groups');
    expect(String(warn.mock.calls.at(-1)?.[0])).toContain('"hasgroups"');
    finish.mockRestore();
    warn.mockRestore();
  });

  it('refuses a flow that is over, altered or missing', async () => {
    const { url } = await begin();
    const callback = await signInAtProvider(url, 'leo');
    const state = new URL(url).searchParams.get('state')!;
    const parts = { state, nonce: 'n', pkceCodeVerifier: 'v', expiresAt: Date.now() - 1 };
    const name = `pvo_console_flow_${state.slice(0, 16)}`;
    const over = service.app.get(SignInFlows).cookieOf(state).seal(parts);
    for (const flow of [`${name}=${over}`, `${name}=x`, '']) {
      const response = await comeBack(new ConsoleBrowser(service), callback, flow);
      expect(response.status).toBe(400);
      const page = await response.text();
      expect(page).toContain('This sign-in is over');
      // Relative links, which hold below any path.
      expect(new URL(/href="([^"]+)"/.exec(page)![1]!, response.url).pathname).toBe('/console');
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
      const state = forged.searchParams.get('state')!;
      forged.searchParams.set('state', state.slice(0, 16) + 'x'.repeat(27));
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
