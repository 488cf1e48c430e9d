import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { forPeople } from './for-people.mjs';

const READ_AT_LEAST_EVERY_S = 1;
const GIVE_UP_MS = 90_000;

/** Takes one user from the registration to an online session, at the service that runs in this folder. Prints each step. */
export async function demo() {
  const { url, key, sandboxUrl } = await findService();
  const api = apiOf(url, key);
  console.log(`The service at ${url}, with the sandbox at ${sandboxUrl} as its remote service.\n`);

  const feed = await followFeed(api, (event) => tell('event', `${event.sequence} ${event.type}`));
  const tell = timeline();
  const ean = newEan();
  const user = await api('POST', '/users', {
    tenantReference: `demo-${new Date().toISOString()}`,
    gridLocations: [{ ean }],
  });
  const [location] = user.gridLocations;
  tell('user', `${user.id} registered, grid location ${location.id} (EAN ${location.ean})`);
  await feed.readUntil('pv.user.registered.v1', user.id);

  const session = await api('POST', `/onboarding/pv/${location.id}`);
  tell('session', `${session.id} started: ${session.state}`);
  await feed.readUntil('pv.session.started.v1', session.id);

  tell('owner', `opens ${session.startUrl}`);
  await completeWebFlow(session.startUrl);
  tell('owner', 'chose Heliotec, signed in, allowed monitoring and curtailment');

  // Reads the session like an app in the foreground, and the feed like an app in the background.
  const read = () => api('GET', `/onboarding/pv/${session.id}?maxAge=${READ_AT_LEAST_EVERY_S}&wait=1`);
  for (let shown = session.state; shown !== 'online';) {
    const { state, basis, inverters } = await read();
    if (state !== shown) {
      shown = state;
      tell('session', [`${state} (${basis})`, ...inverters.map(({ id }) => `inverter ${id}`)].join(', '));
      if (state !== 'online') await feed.readUntil(`pv.session.${state}.v1`, session.id);
    }
    tell.giveUpAfter(GIVE_UP_MS, `the session is still ${state}; GET ${url}/api/v1/status may say why`);
  }
  await feed.readUntil('pv.inverter.online.v1', session.id);
  tell('done', 'the installation is online');
}

async function findService() {
  const { findRunningService } = await import('../dist/platform/local/running-service.js');
  const folder = resolve('.data');
  const service = await findRunningService(folder);
  if (service === undefined)
    throw forPeople('No service runs here. Start it with `npm start`, then run the demo beside it.');
  const isSandbox = await fetch(`${service.remoteUrl}/sandbox/settings`).then(
    (answer) => answer.ok,
    () => false,
  );
  if (!isSandbox) {
    throw forPeople(
      `The remote service at ${service.remoteUrl} is not the sandbox, and the demo makes up a customer. Nothing was done.`,
    );
  }
  const generated = async () => JSON.parse(await readFile(resolve(folder, 'keys.json'), 'utf8')).adminApiKey;
  return {
    url: service.url,
    key: process.env.ADMIN_API_KEY ?? (await generated()),
    sandboxUrl: service.remoteUrl,
  };
}

const apiOf = (url, key) => async (method, path, body) => {
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  /** @type {any} */
  const answer = await response.json();
  if (response.status === 200 || response.status === 201) return answer;
  const hint = response.status === 401 ? ' (ADMIN_API_KEY must be that of the running service)' : '';
  throw forPeople(
    `${method} ${path} was answered ${response.status}: ${answer.detail ?? JSON.stringify(answer)}${hint}`,
  );
};

/** Reads the feed from its current end. `onEvent` receives the events of the subjects passed to `readUntil`. */
async function followFeed(api, onEvent) {
  let after = '0';
  const readPage = async () => {
    const page = await api('GET', `/events?after=${after}&limit=200`);
    after = page.next;
    return page.items;
  };
  while ((await readPage()).length > 0);
  const subjects = new Set();
  const received = new Set();
  return {
    async readUntil(type, subject) {
      subjects.add(subject);
      for (const deadline = Date.now() + GIVE_UP_MS; !received.has(`${type} ${subject}`); await sleep(100)) {
        for (const event of await readPage()) {
          if (!subjects.has(event.subject)) continue;
          received.add(`${event.type} ${event.subject}`);
          onEvent(event);
        }
        if (Date.now() > deadline) throw forPeople(`The event ${type} has not come.`);
      }
    },
  };
}

/** Submits the three forms of the web flow, as a browser would. */
async function completeWebFlow(startUrl) {
  /** @type {Record<string, Record<string, string> | [string, string][]>} */
  const steps = {
    brand: { brand: 'heliotec' },
    'sign-in': { email: 'owner@example.org', password: 'anything' },
    authorise: [
      ['installation', '0'],
      ['allow', 'monitoring'],
      ['allow', 'curtailment'],
    ],
  };
  for (const [step, fields] of Object.entries(steps)) {
    const answer = await fetch(`${startUrl}/${step}`, { method: 'POST', body: new URLSearchParams(fields) });
    if (!answer.ok) throw forPeople(`The web flow answered ${answer.status} to ${step}.`);
  }
}

/** Returns a function that prints a line with the seconds elapsed since this call. */
function timeline() {
  const startedAt = performance.now();
  const tell = (what, text) => {
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    console.log(`${seconds.padStart(5)} s  ${what.padEnd(8)} ${text}`);
  };
  tell.giveUpAfter = (limitMs, reason) => {
    if (performance.now() - startedAt > limitMs) throw forPeople(`Given up: ${reason}.`);
  };
  return tell;
}

/** Returns a random EAN: 17 digits and their GS1 check digit. */
function newEan() {
  const digits = `87168590${String(randomInt(1e9)).padStart(9, '0')}`;
  const sum = [...digits].reduce(
    (total, digit, index) => total + Number(digit) * (index % 2 === 0 ? 3 : 1),
    0,
  );
  return `${digits}${(10 - (sum % 10)) % 10}`;
}
