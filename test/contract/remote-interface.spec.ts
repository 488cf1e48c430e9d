import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RemoteQuestions } from '../../src/cli/check-remote/ask-remote.js';
import { judge } from '../../src/cli/check-remote/judge.rules.js';
import { dispatcherFor, lookAtNetwork } from '../../src/cli/check-remote/look-at-network.js';
import { sessionOf, userOf } from '../../src/cli/check-remote/onboard-once.js';
import { RawRemote } from '../../src/cli/check-remote/raw-remote.js';
import { READ_RESPONSE, START_RESPONSE } from '../../src/onboarding/remote/session.client.js';
import { startSandbox, type TestSandbox } from '../setup/sandbox/sandbox.js';
import { environmentFor } from '../setup/test-environment.js';
import { RawClient, type RawResponse } from './raw-client.js';
import { findRealTarget, type RealTarget } from './real-target.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const USER_TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/;
const SESSION_TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/;
const DAY_MS = 86_400_000;

const real = findRealTarget(process.env);
if (real === null) {
  console.warn(
    'THE CONTRACT TESTS DID NOT RUN AGAINST THE REAL SERVICE, only against the sandbox: ' +
      'give SCS_CONTRACT_BASE_URL, _API_KEY, _CLIENT_ID, _CLIENT_SECRET and _EAN to run them there too.',
  );
}

let sandbox: TestSandbox | null = null;
afterAll(async () => void (await sandbox?.stop()));

const startTarget = async (): Promise<RealTarget> => {
  sandbox = await startSandbox();
  const { SCS_API_KEY, SCS_CLIENT_ID, SCS_CLIENT_SECRET } = sandbox.environment;
  return {
    name: 'the sandbox',
    baseUrl: sandbox.url,
    apiKey: SCS_API_KEY,
    clientId: SCS_CLIENT_ID,
    clientSecret: SCS_CLIENT_SECRET,
    // This EAN is above 2^53 and has no exact double: a client that rounds it would return …000.
    ean: '541448860000000013',
  };
};

const targets: readonly { name: string; open: () => Promise<RealTarget> }[] = [
  { name: 'the sandbox', open: startTarget },
  ...(real === null ? [] : [{ name: real.name, open: () => Promise.resolve(real) }]),
];

// The numbers in the titles are sections of the interface document. All tests share one user and one session, because the real
// service keeps them for ever.
describe.each(targets)('the remote interface of $name', ({ open }) => {
  const tenantReference = `contract-${randomUUID()}`;
  let ean: string;
  let target: RealTarget;
  let client: RawClient;
  let token: RawResponse;
  let user: RawResponse;
  let started: RawResponse;
  let reads: RawResponse[];

  beforeAll(async () => {
    target = await open();
    ean = target.ean;
    client = new RawClient(target);
    token = await client.authorise();
    user = await client.register(tenantReference, [ean]);
    const { id: userId, gridLocations } = JSON.parse(user.text) as {
      id: string;
      gridLocations: { id: string }[];
    };
    started = await client.start(gridLocations[0]?.id ?? '');
    const { sessionId } = JSON.parse(started.text) as { sessionId: string };
    // The interface describes two paths for this read. The remote service may support only one of them.
    reads = [await client.read(sessionId), await client.readOfUser(userId, sessionId)].filter(
      ({ status }) => status === 200,
    );
  });

  it('responds to the probe (4.5)', async () => {
    expect((await client.probe()).status).toBeLessThan(500);
  });

  it('responds to a token request with a JSON object (2.2, 4.1)', () => {
    expect(token.status).toBe(200);
    expect(token.contentType).toMatch(/^application\/json/);
    expect(JSON.parse(token.text)).toMatchObject({
      access_token: expect.stringMatching(/^\S+$/),
      token_type: expect.any(String),
    });
  });

  it('gives expires_in as a timestamp or as seconds, 14 days ahead at most (2.2, 8)', () => {
    const { expires_in: expiresIn } = JSON.parse(token.text) as { expires_in: unknown };
    const leftMs =
      typeof expiresIn === 'string' ? Date.parse(expiresIn) - Date.now() : Number(expiresIn) * 1000;
    if (typeof expiresIn === 'string') expect(expiresIn).toMatch(USER_TIMESTAMP);
    expect(leftMs).toBeGreaterThan(0);
    expect(leftMs).toBeLessThanOrEqual(14 * DAY_MS + 60_000);
  });

  it('responds to a registration with the user, its times in UTC with fractional seconds (2.3, 4.2)', () => {
    expect(user.status).toBeGreaterThanOrEqual(200);
    expect(user.status).toBeLessThan(300);
    expect(user.contentType).toMatch(/^application\/json/);
    expect(JSON.parse(user.text)).toMatchObject({
      id: expect.stringMatching(UUID),
      firstName: expect.any(String),
      lastName: expect.any(String),
      email: expect.any(String),
      tenantName: expect.any(String),
      tenantReference,
      createdAt: expect.stringMatching(USER_TIMESTAMP),
      updatedAt: expect.stringMatching(USER_TIMESTAMP),
      gridLocations: [{ id: expect.stringMatching(UUID) }],
    });
  });

  it('takes and gives an EAN as a bare number with all of its 18 digits (2.4)', () => {
    expect(ean).toMatch(/^\d{18}$/);
    expect(user.text).toMatch(new RegExp(`"ean"\\s*:\\s*${ean}\\s*[,}]`));
  });

  it('responds to a start with an open session and its startUrl (2.5, 3, 4.3)', () => {
    expect(started.status).toBeGreaterThanOrEqual(200);
    expect(started.status).toBeLessThan(300);
    const session = JSON.parse(started.text) as Record<string, string>;
    expect(session).toMatchObject({
      sessionId: expect.stringMatching(UUID),
      finished: false,
      active: true,
      startUrl: expect.stringMatching(/^https?:\/\/.+\/pv-onboarding\/[^/]+$/),
      createdAt: expect.stringMatching(SESSION_TIMESTAMP),
      updatedAt: expect.stringMatching(SESSION_TIMESTAMP),
      expiresAt: expect.stringMatching(SESSION_TIMESTAMP),
    });
    expect(session).not.toHaveProperty('expired');
    expect(session).not.toHaveProperty('inverters');
    expect(Date.parse(session.expiresAt ?? '') - Date.parse(session.createdAt ?? '')).toBe(DAY_MS);
  });

  it('serves at least one of the two path shapes (4.4)', () => {
    expect(reads.length).toBeGreaterThanOrEqual(1);
  });

  it('responds to a read with the session, without its startUrl (2.5, 3, 4.4)', () => {
    const { sessionId, createdAt, updatedAt, expiresAt } = JSON.parse(started.text) as Record<string, string>;
    for (const read of reads) {
      expect(read.contentType).toMatch(/^application\/json/);
      expect(JSON.parse(read.text)).toEqual(
        expect.objectContaining({
          sessionId,
          finished: false,
          active: true,
          expired: false,
          createdAt,
          updatedAt,
          expiresAt,
          inverters: [],
        }),
      );
      expect(JSON.parse(read.text)).not.toHaveProperty('startUrl');
    }
  });

  it('gives the same response on both path shapes, if it serves both (4.4)', () => {
    expect(new Set(reads.map(({ text }) => text)).size).toBe(1);
  });

  it('passes the judgement of check-remote, which reads it with the code of the service', async () => {
    const { baseUrl, apiKey, clientId, clientSecret } = target;
    const environment = environmentFor('postgresql://nowhere.invalid/none', {
      SCS_BASE_URL: baseUrl,
      SCS_API_KEY: apiKey,
      SCS_CLIENT_ID: clientId,
      SCS_CLIENT_SECRET: clientSecret,
    });
    const dispatcher = dispatcherFor(environment);
    const questions = new RemoteQuestions(new RawRemote(environment, dispatcher), environment);
    const network = await lookAtNetwork(environment);
    const { value, seen: token } = await questions.token(null);
    const callOf = ({ status, contentType, text }: RawResponse) => ({
      ...{ status, headers: { 'content-type': contentType }, body: text },
      ...{ ms: 0, receivedAt: new Date() },
    });
    const { sessionId, updatedAt } = JSON.parse(started.text) as Record<'sessionId' | 'updatedAt', string>;
    const readOf = (response: RawResponse) =>
      sessionOf(callOf(response), READ_RESPONSE, sessionId, new Date(updatedAt));
    const job = {
      user: userOf(callOf(user), { tenantReference, ean }),
      start: sessionOf(callOf(started), START_RESPONSE.documented, sessionId, null),
      known: 0,
      reads: { onboarding: readOf(reads[0]!), user: readOf(reads.at(-1)!) },
    };
    const [probe, refusals] = [await questions.probe(), await questions.refusals(value)];
    await dispatcher.close();
    const { SCS_TIMEOUT_MS: timeoutMs } = environment;
    const findings = judge({ timeoutMs, at: new Date(), network, probe, token, refusals, harm: null, job });
    const others = findings.filter(({ level }) => level !== 'fits');
    if (target.name === 'the sandbox') expect(others).toEqual([]);
    else console.warn(others);
    expect(others.filter(({ level }) => level === 'fails')).toEqual([]);
  });
});
