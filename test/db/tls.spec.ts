import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Child } from '../../src/local/child.js';
import { checkPoolers } from '../../src/platform/database/connection/poolers.js';
import { describeWith } from '../setup/describe-with.js';
import { closeAfterEach } from '../setup/close-after-each.js';
import { startOwnPostgres } from '../setup/database/own-postgres.js';
import { createAuthority, findOpenssl, type Authority } from '../setup/receivers/certificates.js';
import { startServiceProcess } from '../setup/processes/service-process.js';
import { databaseUrl } from '../setup/database/template-database.js';
import { CREDENTIALS, environmentFor } from '../setup/test-environment.js';
import type { TestProcess } from '../setup/processes/test-process.js';
import { waitFor } from '../setup/wait-for.js';
import { withClient } from '../setup/database/with-client.js';

describeWith(
  findOpenssl(),
  'openssl (or OPENSSL)',
  'TLS to a PostgreSQL that accepts nothing else',
  (openssl) => {
    let authority: Authority;
    let stranger: Authority;
    let server: Child;
    const closing = closeAfterEach();

    beforeAll(async () => {
      [authority, stranger] = await Promise.all([createAuthority(openssl), createAuthority(openssl)]);
      server = await startOwnPostgres();
      await turnOnTls();
    });
    afterAll(async () => {
      await server.stop();
      await Promise.all([authority.remove(), stranger.remove()]);
    });

    /** Makes the server write its own files, since it refuses a key that another account owns. */
    async function turnOnTls(): Promise<void> {
      const { certificate, key } = await authority.issue('localhost');
      await withClient(server.url, async (client) => {
        const write = (name: string, text: string) =>
          client.query(
            `COPY (SELECT unnest(string_to_array('${text.trim()}', E'\n'))) TO PROGRAM 'umask 077 && cat > ${name}'`,
          );
        await write('server.crt', await readFile(certificate, 'utf8'));
        await write('server.key', await readFile(key, 'utf8'));
        await write('pg_hba.conf', 'hostssl all all all scram-sha-256');
        await client.query('CREATE DATABASE tls');
        await client.query('ALTER SYSTEM SET ssl = on');
        await client.query('SELECT pg_reload_conf()');
      });
      await waitFor('TLS', () =>
        withClient(to({ sslmode: 'no-verify' }), (client) => client.query('SELECT 1')).then(
          () => true,
          () => false,
        ),
      );
    }

    const to = (parameters: Record<string, string>, host = 'localhost'): string => {
      const url = new URL(databaseUrl(server.url, 'tls'));
      url.hostname = host;
      // URLSearchParams would write a blank as `+`.
      url.search = Object.entries(parameters)
        .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
        .join('&');
      return url.href;
    };
    const verified = () => to({ sslmode: 'verify-full', sslrootcert: authority.file });

    const start = async (variables: Record<string, string>): Promise<TestProcess> => {
      const unreachable = { SCS_BASE_URL: 'http://127.0.0.1:9', ...CREDENTIALS };
      const service = await startServiceProcess({ ...unreachable, ...variables });
      closing.push(() => service.stop('SIGKILL'));
      return service;
    };
    const readConnections = () =>
      withClient(verified(), async (client) => {
        const { rows } = await client.query<{ name: string; isEncrypted: boolean }>(
          `SELECT DISTINCT application_name AS name, ssl AS "isEncrypted"
           FROM pg_stat_activity JOIN pg_stat_ssl USING (pid)
           WHERE datname = 'tls' AND pid <> pg_backend_pid() ORDER BY name`,
        );
        return rows;
      });

    it('the service starts and serves with sslrootcert or NODE_EXTRA_CA_CERTS, and encrypts all connections', async () => {
      const service = await start({
        DATABASE_URL: to({ sslmode: 'verify-full' }),
        NODE_EXTRA_CA_CERTS: authority.file,
        DATABASE_DIRECT_URL: verified(),
      });
      await waitFor('it is ready', async () => (await fetch(`${service.url}/health/ready`)).status === 200);
      const names = ['pv-onboarding all', 'pv-onboarding listen'];
      const connections = await waitFor('all kinds of connections', async () => {
        const now = await readConnections();
        return now.map(({ name }) => name).join() === names.join() && now;
      });
      expect(connections).toEqual(names.map((name) => ({ name, isEncrypted: true })));
    });

    const refusal = (url: string): Promise<string> =>
      checkPoolers(environmentFor(url)).then(
        () => 'none',
        (error: Error) => error.message,
      );
    const messageOf = (problem: string) =>
      `The configuration is not valid:\n  - DATABASE_URL cannot be used to connect to PostgreSQL: ${problem}`;
    const UNKNOWN =
      'its certificate is not signed by a known authority (UNABLE_TO_VERIFY_LEAF_SIGNATURE): ' +
      'name the file with the certificate of its authority in sslrootcert; if the URL has no sslrootcert, NODE_EXTRA_CA_CERTS also works';

    it('an unknown authority ends the start, and the message has no password', async () => {
      const url = to({ sslmode: 'verify-full', sslrootcert: stranger.file });
      const { message } = await start({ DATABASE_URL: url }).then(
        () => new Error('none'),
        (error: Error) => error,
      );
      expect(message).toContain(`${messageOf(UNKNOWN)}\n`);
      expect(message).not.toContain(new URL(url).password);
    });

    // `pg` treats these as verify-full. If a later version does not, this test fails.
    it.each(['prefer', 'require', 'verify-ca', 'verify-full'])(
      'sslmode=%s checks the authority and the host name',
      async (sslmode) => {
        expect(await refusal(to({ sslmode }))).toBe(messageOf(UNKNOWN));
        expect(await refusal(to({ sslmode, sslrootcert: authority.file }, '127.0.0.1'))).toBe(
          messageOf('its certificate is for another host: use a host name that the certificate contains'),
        );
        expect(await refusal(to({ sslmode, sslrootcert: authority.file }))).toBe('none');
      },
    );

    it('without sslmode, names the one to set', async () => {
      expect(await refusal(to({}))).toMatch(/no encryption: if it requires TLS, set sslmode=verify-full$/);
      expect(await refusal(to({ sslmode: 'disable' }))).toMatch(/set sslmode=verify-full$/);
    });
  },
);
