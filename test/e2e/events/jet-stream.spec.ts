import { describe, expect, it } from '@jest/globals';
import { openNats } from '../../../src/broker/nats.publisher.js';
import type { CloudEvent } from '../../../src/events/cloud-event.js';
import { closeAfterEach } from '../../setup/close-after-each.js';
import { waitFor } from '../../setup/wait-for.js';
import { NO_RESPONDERS, startJetStream, type JetStream } from '../../setup/receivers/jet-stream.js';

const closing = closeAfterEach();

const LAST = '0e3c7f9c-51c4-43f5-9d0a-6f0f3e7a2b11';
const SOUND = {
  ...{ subjects: ['pv.>'], retention: 'limits', storage: 'file', discard: 'old', num_replicas: 1 },
  ...{ max_age: 0, max_msgs: -1, max_bytes: -1, max_msgs_per_subject: -1 },
};
const start = async (config?: object, cluster?: object): Promise<JetStream> => {
  const server = await startJetStream(
    config && { config: { ...SOUND, ...config }, lastSequence: 0, ...(cluster && { cluster }) },
  );
  closing.push(() => server.close());
  return server;
};
const open = async (server: JetStream, url = server.url) => {
  const publisher = await openNats(url);
  closing.push(() => publisher.close());
  return publisher;
};
const event = (id: string, subject = 'here'): CloudEvent =>
  ({ id, subject, type: 'pv.session.online.v1', data: {} }) as unknown as CloudEvent;

describe('a stream', () => {
  it('is created for all events, on disk, if there is none', async () => {
    const server = await start();
    expect((await open(server)).lastId).toBeNull();
    expect(server.stream?.config).toMatchObject({
      ...{ name: 'PV_ONBOARDING', subjects: ['pv.>'], storage: 'file', duplicate_window: 600_000_000_000 },
    });
  });

  it.each([
    [
      'CREATE',
      /^there is no stream PV_ONBOARDING, and it cannot be created: no space. Create it with the subjects pv.>$/,
    ],
    ['INFO', /^no space$/],
    ['MSG.GET', /^no space$/],
  ])('that cannot be used has the reason: %s', async (kind, reason) => {
    const server = await start(kind === 'MSG.GET' ? {} : undefined);
    if (server.stream !== undefined) server.stream.lastSequence = 1;
    server.refusals.set(kind, { code: 503, err_code: 10_047, description: 'no space' });
    await expect(openNats(server.url)).rejects.toThrow(reason);
    expect(server.stream?.config).toEqual(kind === 'MSG.GET' ? SOUND : undefined);
  });

  it.each(['INFO', 1])(
    'to whose request nobody responds has no leader, or JetStream is off: %s',
    async (kind) => {
      const server = await start({});
      server.refusals.set(kind, NO_RESPONDERS);
      const tried = open(server).then((publisher) => publisher.publish([event('a')]));
      await expect(tried).rejects.toThrow(
        /^no server responds for JetStream: it is off, or has no leader now$/,
      );
    },
  );

  it.each([
    [['pv.>'], true],
    [['>'], true],
    [['other', 'pv.>'], true],
    [['pv.*.*.v1'], false],
  ])('with the subjects %j takes all events: %j', async (subjects, isSound) => {
    const opened = open(await start({ subjects }));
    if (isSound) await opened;
    else await expect(opened).rejects.toThrow(/must have pv\.> among its subjects; it has pv\.\*\.\*\.v1$/);
  });

  const [DELETES, MEMORY, ALONE] = [/may delete events/, /is in memory/, /has one replica/];
  it.each<[object, object | undefined, RegExp[]]>([
    [{}, undefined, []],
    [{ retention: 'interest' }, undefined, [DELETES]],
    [{ max_age: 1 }, undefined, [DELETES]],
    [{ max_msgs: 1 }, undefined, [DELETES]],
    [{ max_bytes: 1 }, undefined, [DELETES]],
    [{ max_msgs: 1, max_bytes: 1, discard: 'new' }, undefined, []],
    [{ max_msgs_per_subject: 1 }, undefined, [DELETES]],
    [{ max_msgs_per_subject: 1, discard: 'new', discard_new_per_subject: true }, undefined, []],
    [{ storage: 'memory', max_age: 1 }, undefined, [DELETES, MEMORY]],
    [{}, { name: 'c' }, [ALONE]],
    [{}, {}, []],
    [{ num_replicas: 3 }, { name: 'c' }, []],
  ])('with the settings %j in the cluster %j has its warnings', async (config, cluster, warnings) => {
    const { warnings: found } = await open(await start(config, cluster));
    expect(found).toEqual(warnings.map((warning) => expect.stringMatching(warning)));
  });

  it.each([
    [`Nats-Msg-Id: ${LAST}\r\n`, 9, LAST],
    ['', 9, undefined],
    ['Nats-Msg-Id: of-others\r\n', 9, undefined],
    [`Nats-Msg-Id: ${LAST}\r\n`, 8, undefined],
  ])(
    'with the header %j in message %i of 9, those after it deleted, has the last event %s',
    async (header, seq, lastId) => {
      const server = await start({});
      server.stream!.lastSequence = 9;
      server.messages.push({ subject: 'pv.x', headers: `NATS/1.0\r\n${header}\r\n`, body: '{}', seq });
      expect((await open(server)).lastId).toBe(lastId);
    },
  );
});

describe('events', () => {
  it('are sent each with its place in the stream, and count up to the first that is refused', async () => {
    const server = await start({});
    server.stream!.lastSequence = 7;
    server.messages.push({ subject: 'pv.x', headers: 'NATS/1.0\r\nNats-Msg-Id: last\r\n\r\n', body: '{}' });
    const publisher = await open(server);
    const refusal = { code: 400, err_code: 10_071, description: 'wrong last sequence: 9' };
    server.refusals.set(4, refusal);
    expect(await publisher.publish(['a', 'b', 'c'].map((id) => event(id, 'a.*(é)')))).toBe(2);
    server.refusals.set(6, refusal);
    expect(await publisher.publish([])).toBe(0);
    expect(await publisher.publish([event('c')])).toBe(1);
    await expect(publisher.publish([event('d'), event('e')])).rejects.toThrow(
      /^something else publishes to the stream PV_ONBOARDING: wrong last sequence: 9$/,
    );
    const sent = server.messages
      .slice(1)
      .map(({ subject, headers, body }) => [
        subject,
        /Nats-Msg-Id: *(\S+)/i.exec(headers)?.[1],
        Number(/Nats-Expected-Last-Sequence: *(\S+)/i.exec(headers)?.[1]),
        /Nats-Expected-Last-Msg-Id: *(\S+)/i.exec(headers)?.[1],
        /Nats-Expected-Stream: *(\S+)/i.exec(headers)?.[1],
        /content-type: *(\S+)/i.exec(headers)?.[1],
        (JSON.parse(body) as CloudEvent).id,
      ]);
    const message = (id: string, last: number, previous?: string, subject = 'here') => [
      ...[`pv.session.online.v1.${subject}`, id, last, previous],
      ...['PV_ONBOARDING', 'application/cloudevents+json', id],
    ];
    const ids = ['a', 'b', 'c'];
    const first = ids.map((id, nth) => message(id, 7 + nth, ids[nth - 1], 'a%2E%2A%28%C3%A9%29'));
    expect(sent).toEqual([...first, message('c', 9), message('d', 10), message('e', 11, 'd')]);
  });

  it('that the stream has already count, but take no place in it', async () => {
    const server = await start({});
    const publisher = await open(server);
    for (const nth of [1, 2]) server.duplicates.add(nth);
    expect(await publisher.publish([event('a'), event('b'), event('c')])).toBe(3);
    await publisher.publish([event('d')]);
    expect(server.messages.at(-1)!.headers).toMatch(/Nats-Expected-Last-Sequence: *1\r/i);
  });

  it.each([
    ['max_payload of the server', 400, undefined],
    [
      'max_msg_size of the stream PV_ONBOARDING',
      1e6,
      { code: 400, err_code: 10_054, description: 'message size exceeds maximum allowed' },
    ],
  ])('of which one exceeds the %s wait, and the reason says so', async (setting, maxPayload, refusal) => {
    const server = await startJetStream({ config: SOUND, lastSequence: 0 }, maxPayload);
    closing.push(() => server.close());
    if (refusal !== undefined) for (const nth of [2, 3]) server.refusals.set(nth, refusal);
    const publisher = await open(server);
    const large = event('large', 'é'.repeat(200));
    expect(await publisher.publish([event('a'), large])).toBe(1);
    await expect(publisher.publish([large])).rejects.toThrow(
      `an event of 467 bytes and headers (pv.session.online.v1, id large) exceeds the ${setting}: raise it. All later events wait`,
    );
  });
});

describe('a server', () => {
  it.each([
    ['', undefined],
    ['u:p%40s@', { user: 'u', pass: 'p@s' }],
    ['t%40ken@', { auth_token: 't@ken' }],
  ])(
    'at nats://%s… gets these credentials, also if another one of the list is away',
    async (given, credentials) => {
      const server = await start({});
      await open(server, `nats://127.0.0.1:1,${server.url.replace('//', `//${given}`)}`);
      const [{ name, user, pass, auth_token }] = server.clients as [JetStream['clients'][0]];
      expect({ name, user, pass, auth_token }).toEqual({ name: 'pv-onboarding', ...credentials });
    },
  );

  it('that denies the subscription to responses is named alike at each attempt', async () => {
    const server = await start({});
    server.refusals.set('SUB', {});
    await expect(openNats(server.url)).rejects.toThrow(
      /^Permissions Violation for Subscription to "_INBOX\.>"$/,
    );
  });

  it('that goes away while there are no events is noticed', async () => {
    const server = await start({});
    const publisher = await open(server);
    server.close();
    const publishes = () =>
      publisher.publish([]).then(
        () => false,
        (error: unknown) => String(error),
      );
    expect(await waitFor('the failure', publishes)).toBe('BrokerError: the connection was closed');
  });

  it.each(['127.0.0.1', '[::1]'])('at %s that is away is named by the code of the error', async (host) => {
    await expect(openNats(`nats://${host}:1`)).rejects.toThrow(/^it cannot be reached \(E[A-Z]+\)$/);
  });
});
