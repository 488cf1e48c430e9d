import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { openNats } from '../../../src/events/broker/nats.publisher.js';
import { appendEvents } from '../../../src/events/outbox.js';
import { sessionEvent } from '../../db/events/fixture.js';
import { closeAfterEach } from '../../setup/close-after-each.js';
import { createAuthority, findOpenssl, type Authority } from '../../setup/receivers/certificates.js';
import { findNatsServer, startNatsServer, type NatsServer } from '../../setup/receivers/nats-server.js';
import { createTestDatabase } from '../../setup/test-database.js';
import { startTestProcess } from '../../setup/test-process.js';
import { waitFor } from '../../setup/wait-for.js';
import { measureUntil } from '../support/promise.js';

jest.setTimeout(60_000);

const openssl = findOpenssl();
const program = findNatsServer();

if (openssl === null || program === null) {
  const notice =
    'TLS TO THE BROKER WAS NOT TESTED: there is no openssl or no nats-server here (apt-get install openssl nats-server, or OPENSSL and NATS_SERVER)';
  console.warn(notice);
  describe('TLS to the broker', () => {
    it(`is not shown. ${notice}`, () => expect(openssl === null || program === null).toBe(true));
  });
} else {
  describe('a broker with TLS', () => {
    let authority: Authority;
    let nats: NatsServer;
    const closing = closeAfterEach();

    const startFor = async (host: string): Promise<NatsServer> => {
      const { certificate, key } = await authority.issue(host);
      return startNatsServer(program, `tls { cert_file: "${certificate}", key_file: "${key}" }`);
    };
    const urlOf = ({ url }: NatsServer, scheme = 'tls'): string =>
      url.replace('nats://127.0.0.1', `${scheme}://localhost`);

    beforeAll(async () => {
      authority = await createAuthority(openssl);
      nats = await startFor('localhost');
    });
    afterAll(async () => {
      await nats.remove();
      await authority.remove();
    });

    /** Runs a worker that trusts the authority, until its broker has this position. After a connection that takes too long, it tries again. */
    const publishTo = async (
      url: string,
      expected: { readTo: string; lastError: string | null },
    ): Promise<void> => {
      const testDatabase = await createTestDatabase();
      closing.push(testDatabase.drop);
      const database = testDatabase.open();
      await database.transaction((tx) => appendEvents(tx, [sessionEvent('session.online', randomUUID())]));
      const worker = await startTestProcess('test/faults/support/processes/publishing-replica.process.ts', {
        DATABASE_URL: testDatabase.url,
        EVENT_BROKER_URL: url,
        NODE_EXTRA_CA_CERTS: authority.file,
      });
      closing.push(() => worker.stop('SIGKILL'));
      await waitFor(
        'the outcome',
        async () => {
          const rows = await database.query(
            'SELECT read_to AS "readTo", last_error AS "lastError" FROM broker_positions',
          );
          expect(rows).toEqual([expected]);
          return true;
        },
        30_000,
      );
    };
    const failureAt = (url: string): Promise<string> =>
      measureUntil(
        (text) => text !== 'it has not responded in time',
        () =>
          openNats(url).then(
            async (publisher) => publisher.close().then(() => 'none'),
            (error: Error) => error.message,
          ),
      );

    it('gets the events of a worker that trusts its authority by NODE_EXTRA_CA_CERTS', async () => {
      await publishTo(urlOf(nats), { readTo: '1', lastError: null });
    });

    it('is refused if its certificate is for another host', async () => {
      const other = await startFor('broker.example');
      closing.push(other.remove);
      await publishTo(urlOf(other), {
        readTo: '0',
        lastError: 'its certificate is for another host: use a host name that the certificate contains',
      });
    });

    // If the server requires TLS, the service uses TLS with either URL scheme.
    it.each(['tls', 'nats'])('is refused with %s:// if its authority is unknown', async (scheme) => {
      expect(await failureAt(urlOf(nats, scheme))).toBe(
        'its certificate is not signed by a known authority (UNABLE_TO_VERIFY_LEAF_SIGNATURE): ' +
          'name the file with the certificate of its authority in NODE_EXTRA_CA_CERTS',
      );
    });

    it('is refused with tls:// if it does not support TLS', async () => {
      const plain = await startNatsServer(program);
      closing.push(plain.remove);
      expect(await failureAt(urlOf(plain))).toBe(
        'it does not support TLS: turn it on there, or begin EVENT_BROKER_URL with nats://',
      );
    });
  });
}
