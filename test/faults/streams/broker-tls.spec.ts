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

jest.setTimeout(60_000);

const openssl = findOpenssl();
const program = findNatsServer();

if (openssl === null || program === null) {
  const told =
    'TLS TO THE BROKER WAS NOT TESTED: there is no openssl or no nats-server here (apt-get install openssl nats-server, or OPENSSL and NATS_SERVER)';
  console.warn(told);
  describe('TLS to the broker', () => {
    it(`is not shown. ${told}`, () => expect(openssl === null || program === null).toBe(true));
  });
} else {
  describe('TLS to a broker that accepts nothing else', () => {
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

    /** Runs a worker that trusts the authority, and returns the last error of its broker once it has published or failed. */
    const publishTo = async (url: string): Promise<string | null> => {
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
      const outcome = await waitFor('an outcome', async () => {
        const [row] = await database.query<{ readTo: string; lastError: string | null }>(
          'SELECT read_to AS "readTo", last_error AS "lastError" FROM broker_positions',
        );
        return row !== undefined && (row.readTo === '1' || row.lastError !== null) && row;
      });
      return outcome.lastError;
    };
    const failureAt = (url: string): Promise<string> =>
      openNats(url).then(
        async (publisher) => publisher.close().then(() => 'none'),
        (error: Error) => error.message,
      );

    it('gets the events of a worker that knows the authority by NODE_EXTRA_CA_CERTS', async () => {
      expect(await publishTo(urlOf(nats))).toBeNull();
    });

    it('of another host is refused', async () => {
      const other = await startFor('broker.example');
      closing.push(other.remove);
      expect(await publishTo(urlOf(other))).toBe(
        'its certificate is for another host: use a host name that the certificate contains',
      );
    });

    // If the server requires TLS, the service uses TLS with either URL scheme.
    it.each(['tls', 'nats'])('of an unknown authority is refused with %s://', async (scheme) => {
      expect(await failureAt(urlOf(nats, scheme))).toBe(
        'its certificate is not signed by a known authority (UNABLE_TO_VERIFY_LEAF_SIGNATURE): ' +
          'name the file with the certificate of its authority in NODE_EXTRA_CA_CERTS',
      );
    });

    it('that does not support TLS is refused with tls://', async () => {
      const plain = await startNatsServer(program);
      closing.push(plain.remove);
      expect(await failureAt(urlOf(plain))).toBe(
        'it does not support TLS: turn it on there, or begin EVENT_BROKER_URL with nats://',
      );
    });
  });
}
