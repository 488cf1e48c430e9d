import { afterEach, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AuthorisedRemote } from '../../../src/auth/authorised-remote.service.js';
import { SessionReader } from '../../../src/onboarding/remote/session-reader.service.js';
import type { PathShape } from '../../../src/onboarding/remote/session.client.js';
import { Environment } from '../../../src/platform/env/environment.js';
import { Metrics } from '../../../src/platform/metrics/metrics.js';
import { Responses } from '../../../src/remote/responses.service.js';
import { itAtLength, promise } from '../support/promise.js';
import { startReplicas, type ReplicaOptions, type Replicas } from '../support/replicas.js';

let replicas: Replicas;
afterEach(() => replicas.close());

const start = async (options: Omit<ReplicaOptions, 'count'>): Promise<void> => {
  replicas = await startReplicas({ count: 1, ...options });
};

async function requestsOf(read: () => Promise<unknown>): Promise<string[]> {
  const { control } = replicas.sandbox;
  const seen = (await control.requests()).length;
  await read();
  return (await control.requests())
    .slice(seen)
    .filter(({ operation }) => operation === 'read_session')
    .map(({ path, status }) => `${path.includes('/users/') ? 'user' : 'onboarding'} ${status}`);
}

/** The bug: accepts a 404 of the first path without trying the other path. */
const believeFirst404 = (app: NestFastifyApplication): void => {
  const reader = app.get(SessionReader);
  const environment = { ...app.get(Environment), SCS_SESSION_PATH: 'onboarding' } as const;
  const single = new SessionReader(app.get(AuthorisedRemote), environment, app.get(Responses), new Metrics());
  reader.read = single.read.bind(single);
};

describe('R21: a path shape is learned', () => {
  it.each<{ served: PathShape | 'both'; first: string[]; next: string[] }>([
    { served: 'onboarding', first: ['onboarding 200'], next: ['onboarding 200'] },
    { served: 'user', first: ['onboarding 404', 'user 200'], next: ['user 200'] },
    { served: 'both', first: ['onboarding 200'], next: ['onboarding 200'] },
  ])('is pinned after two calls at most where $served is served', async ({ served, first, next }) => {
    await start({ environment: { ROLE: 'api' } });
    const [client] = replicas.clients;
    await replicas.sandbox.control.change({ sessionPath: served });
    const { id } = await client!.startNew();
    const refresh = () => client!.call('POST', `/onboarding/pv/${id}/refresh`);
    const requests = await requestsOf(refresh);
    promise('R21', { figure: `${requests.length} calls until pinned where ${served} is served`, bound: '2' });
    expect(requests).toEqual(first);
    expect(await requestsOf(refresh)).toEqual(next);
  });

  it('is learned again when the service changes to the other', async () => {
    await start({ environment: { ROLE: 'api' } });
    const { control } = replicas.sandbox;
    const [client] = replicas.clients;
    const { id } = await client!.startNew();
    const refresh = () => client!.call('POST', `/onboarding/pv/${id}/refresh`);
    await control.change({ sessionPath: 'user' });
    await refresh();
    await control.change({ sessionPath: 'onboarding' });
    expect(await requestsOf(refresh)).toEqual(['user 404', 'onboarding 200']);
    expect(await requestsOf(refresh)).toEqual(['onboarding 200']);
    await control.change({ sessionPath: 'user' });
    expect(await requestsOf(refresh)).toEqual(['onboarding 404', 'user 200']);
    expect(await requestsOf(refresh)).toEqual(['user 200']);
  });

  itAtLength('turns red when a 404 of the first shape is believed', async () => {
    await start({ environment: { ROLE: 'api' }, prepare: believeFirst404 });
    await replicas.sandbox.control.change({ sessionPath: 'user' });
    const [client] = replicas.clients;
    const { id } = await client!.startNew();
    const requests = await requestsOf(() => client!.call('POST', `/onboarding/pv/${id}/refresh`));
    expect(requests).toEqual(['onboarding 404']);
  });
});
