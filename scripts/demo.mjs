import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createClient, followEvents, ProblemError, waitForOnline } from '../dist/clients/typescript/index.js';
import { findRunningService } from '../dist/local/running-service.js';
import { forPeople } from './progress.mjs';

const GIVE_UP_MS = 90_000;

/** Registers a user at the service that runs in this folder, completes a session until it is online, and prints each step. */
export async function demo() {
  const { url, apiKey, sandboxUrl } = await findService();
  console.log(`The service at ${url}, with the sandbox at ${sandboxUrl} as its remote service.\n`);
  const signal = AbortSignal.timeout(GIVE_UP_MS);
  try {
    await onboard(createClient({ baseUrl: url, apiKey }), signal);
  } catch (error) {
    if (error === signal.reason)
      throw forPeople(`Given up after ${GIVE_UP_MS / 1_000} s; GET ${url}/api/v1/status may say why.`);
    if (!(error instanceof ProblemError)) throw error;
    const hint = error.status === 401 ? ' (ADMIN_API_KEY must be that of the running service)' : '';
    throw forPeople(`The service responded ${error.status} ${error.code}: ${error.detail}${hint}`);
  }
}

/**
 * @param {import('../dist/clients/typescript/index.js').Client} client
 * @param {AbortSignal} signal
 */
async function onboard(client, signal) {
  const print = timeline();
  // An app passes the sequence of the last event that it has handled. The demo has handled none.
  const events = followEvents(client, { after: '0', signal });
  const subjects = [];
  /** Prints the events of the user and the session, up to and including the next event of `type`. */
  const printUntil = async (type) => {
    for (;;) {
      const { value: event, done } = await events.next();
      if (done) throw signal.reason;
      if (!subjects.includes(event.subject)) continue;
      const basis = 'basis' in event.data ? ` (${event.data.basis})` : '';
      print('event', `${event.sequence} ${event.type}${basis}`);
      if (event.type === type) return;
    }
  };

  const { data: user } = await client.POST('/api/v1/users', {
    body: { tenantReference: `demo-${new Date().toISOString()}`, gridLocations: [{ ean: newEan() }] },
  });
  if (user.object === 'registration')
    throw forPeople(`The registration is ${user.status}: ${user.lastError}`);
  const [location] = user.gridLocations;
  print('user', `${user.id} registered, grid location ${location.id} (EAN ${location.ean})`);
  subjects.push(user.id);
  await printUntil('pv.user.registered.v1');

  const gridLocationId = location.id;
  const { data: invitation } = await client.POST('/api/v1/invitations', { body: { gridLocationId } });
  print('invited', `the owner, by ${invitation.url}`);
  subjects.push(invitation.id);
  await printUntil('pv.invitation.created.v1');

  const startUrl = await clickOn(invitation.url);
  print('owner', `clicks, and is led to ${startUrl}`);
  const { data: started } = await client.GET('/api/v1/onboarding/pv', {
    params: { query: { gridLocationId } },
  });
  const [session] = started.items;
  subjects.push(session.id);
  await printUntil('pv.session.started.v1');

  await completeWebFlow(startUrl);
  print('owner', 'chose Heliotec, signed in, allowed monitoring and curtailment');

  // Reads the session until it is online, as an app in the foreground does, and follows the events, as an app in the background does.
  const [{ inverters }] = await Promise.all([
    waitForOnline(client, session.id, { maxAgeSeconds: 1, signal }),
    printUntil('pv.inverter.online.v1'),
  ]);
  print('done', `the installation is online: inverter ${inverters.map(({ id }) => id).join(', ')}`);
  await events.return();
}

async function findService() {
  const folder = resolve('.data');
  const service = await findRunningService(folder);
  if (service === undefined)
    throw forPeople('No service runs here. Start it with `npm start`, then run the demo beside it.');
  const isSandbox = await fetch(`${service.remoteUrl}/sandbox/settings`).then(
    (response) => response.ok,
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
    apiKey: process.env.ADMIN_API_KEY ?? (await generated()),
    sandboxUrl: service.remoteUrl,
  };
}

/** Clicks on the button of an invitation's page, as a browser would. Returns where it leads. */
async function clickOn(url) {
  const { status, headers } = await fetch(url, { method: 'POST', redirect: 'manual' });
  const startUrl = headers.get('location');
  if (status !== 303 || startUrl === null) throw forPeople(`The page of the invitation responded ${status}.`);
  return startUrl;
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
    const response = await fetch(`${startUrl}/${step}`, {
      method: 'POST',
      body: new URLSearchParams(fields),
    });
    if (!response.ok) throw forPeople(`The web flow responded ${response.status} to ${step}.`);
  }
}

/** Returns a function that prints a line with the seconds since the call of `timeline`. */
function timeline() {
  const startedAt = performance.now();
  return (what, text) => {
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    console.log(`${seconds.padStart(5)} s  ${what.padEnd(8)} ${text}`);
  };
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
