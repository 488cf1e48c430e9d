import { createCipheriv, createDecipheriv } from 'node:crypto';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { TOKENS } from '../../../src/auth/token.store.js';
import { rotateEncryptionCommand } from '../../../src/cli/keys.command.js';
import {
  PREVIOUS_WEBHOOK_SECRETS,
  WEBHOOK_HEADERS,
  WEBHOOK_SECRETS,
} from '../../../src/webhooks/secrets/sealing.service.js';
import { START_URLS } from '../../../src/onboarding/store/sessions.sql.js';
import { Cipher, HEADER_BYTES } from '../../../src/platform/crypto/cipher.js';
import { reEncrypt, type EncryptedColumn } from '../../../src/platform/crypto/re-encryption.store.js';
import { Database } from '../../../src/platform/database/database.js';
import { Environment } from '../../../src/platform/env/environment.js';
import { ENCRYPTED_COLUMNS } from '../../../src/privacy/encrypted-columns.js';
import { blockOf, readPage } from '../../docs/pages.js';
import { TestClient } from '../../setup/client.js';
import { startServiceProcess } from '../../setup/processes/service-process.js';
import { useTestApp } from '../../setup/test-app.js';
import { createTestDatabase } from '../../setup/database/test-database.js';
import { withClient } from '../../setup/database/with-client.js';
import { startWebhookReceiver, type Received } from '../../setup/receivers/webhook-receiver.js';
import { itAtLength, promise } from '../support/promise.js';
import { seedSessions } from '../support/seeded-sessions.js';

const ROWS = 1_000;
const READS_PER_BATCH = 10;

const keyOf = (seed: string) => Buffer.alloc(32, seed).toString('base64');
const OLD = keyOf('old');
const NEW = keyOf('new');
const withKeys = (...keys: string[]): Environment =>
  Object.assign(new Environment(), { ENCRYPTION_KEYS: keys });
const oldCipher = new Cipher(withKeys(OLD));
const newCipher = new Cipher(withKeys(NEW));
const bothCipher = new Cipher(withKeys(NEW, OLD));

const startUrlOf = (sessionId: string) => `https://onboarding.example/pv-onboarding/${sessionId}`;

describe('R37: keys are changed while the service keeps running', () => {
  const service = useTestApp({ ROLE: 'api', LOG_LEVEL: 'error', ENCRYPTION_KEYS: [NEW, OLD] });
  const client = TestClient.of(service);
  let database: Database;
  let sessionIds: string[];

  beforeAll(async () => {
    database = service.database;
    sessionIds = await seedSessions(database, service.sandbox!.control, ROWS);
    await client.startNew();
    await putUnderOldKey();
  });

  /** Encrypts the stored start URLs and the token with the old key. */
  async function putUnderOldKey(): Promise<void> {
    await write(
      sessionIds,
      sessionIds.map((id) => oldCipher.encrypt(startUrlOf(id), START_URLS.context(id))),
    );
    const [row] = await database.query<{ token: Buffer }>(
      'SELECT token_ciphertext AS token FROM remote_tokens',
    );
    const token = bothCipher.decrypt(row!.token, TOKENS.context('tenant'));
    await database.query('UPDATE remote_tokens SET token_ciphertext = $1', [
      oldCipher.encrypt(token, TOKENS.context('tenant')),
    ]);
  }

  const write = (ids: readonly string[], ciphertexts: readonly Buffer[]) =>
    database.query(
      `UPDATE onboarding_sessions s SET start_url_ciphertext = c.ciphertext
         FROM unnest($1::uuid[], $2::bytea[]) AS c(id, ciphertext) WHERE s.id = c.id`,
      [ids, ciphertexts],
    );

  const readRow = async (id: string): Promise<Buffer> =>
    (
      await database.query<{ ciphertext: Buffer }>(
        'SELECT start_url_ciphertext AS ciphertext FROM onboarding_sessions WHERE id = $1',
        [id],
      )
    )[0]!.ciphertext;

  async function countUnder(cipher: Cipher): Promise<number> {
    const [row] = await database.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM
         (SELECT start_url_ciphertext AS c FROM onboarding_sessions UNION ALL SELECT token_ciphertext FROM remote_tokens) AS stored
        WHERE substring(c FOR length($1::bytea)) = $1`,
      [cipher.currentHeader],
    );
    return row!.count;
  }

  /** Returns a database that runs `meanwhile` before each query outside a transaction. */
  const whereMeanwhile = (meanwhile: () => Promise<unknown>): Database =>
    Object.assign(Object.create(database) as Database, {
      query: async <Row>(...args: Parameters<Database['query']>): Promise<Row[]> => {
        await meanwhile();
        return database.query<Row>(...args);
      },
    });

  it('1,000 rows, while sessions are started and read', async () => {
    let wrong = 0;
    let reads = 0;
    const started: string[] = [];
    const useService = async () => {
      const ids = Array.from(
        { length: READS_PER_BATCH },
        () => sessionIds[(reads++ * 97) % sessionIds.length]!,
      );
      const [session, ...read] = await Promise.all([
        client.startNew(),
        ...ids.map((id) => client.session(id)),
      ]);
      started.push(session.id);
      wrong += read.filter(({ id, startUrl }) => startUrl !== startUrlOf(id)).length;
      if (session.startUrl === null) wrong++;
    };

    expect(await countUnder(oldCipher)).toBe(ROWS + 1);
    const busy = whereMeanwhile(useService);
    expect(await reEncrypt(busy, bothCipher, START_URLS)).toEqual({
      reEncrypted: ROWS,
      unreadable: 0,
      left: 0,
    });
    expect(await reEncrypt(busy, bothCipher, TOKENS)).toEqual({ reEncrypted: 1, unreadable: 0, left: 0 });

    promise('R37', {
      figure: `${wrong} failures, ${await countUnder(oldCipher)} of ${ROWS} rows under the old key`,
      bound: '0, 0',
    });
    expect(wrong).toBe(0);
    expect(started.length).toBeGreaterThan(10);
    expect(await countUnder(oldCipher)).toBe(0);
    const opened = await Promise.all(
      sessionIds.map(async (id) => newCipher.decrypt(await readRow(id), START_URLS.context(id))),
    );
    expect(opened).toEqual(sessionIds.map(startUrlOf));
    const [token] = await database.query<{ ciphertext: Buffer }>(
      'SELECT token_ciphertext AS ciphertext FROM remote_tokens',
    );
    expect(newCipher.decrypt(token!.ciphertext, TOKENS.context('tenant'))).not.toBe('');
  });

  it('for webhook secrets and headers, too: webhooks are still sent with both', async () => {
    const columns = [WEBHOOK_SECRETS, PREVIOUS_WEBHOOK_SECRETS, WEBHOOK_HEADERS];
    const receiver = await startWebhookReceiver();
    try {
      const { id, secret: first } = (
        await client.call<{ id: string; secret: string }>('POST', '/webhook-endpoints', {
          url: receiver.url,
          headers: { Authorization: 'Bearer of-the-receiver' },
        })
      ).body;
      const { secret: second } = (
        await client.call<{ secret: string }>('POST', `/webhook-endpoints/${id}/rotate-secret`)
      ).body;
      for (const { name, context } of columns) {
        const column = name.split('.')[1];
        const select = `SELECT ${column} AS ciphertext FROM webhook_endpoints WHERE id = $1`;
        const [row] = await database.query<{ ciphertext: Buffer }>(select, [id]);
        const old = oldCipher.encrypt(bothCipher.decrypt(row!.ciphertext, context(id)), context(id));
        await database.query(`UPDATE webhook_endpoints SET ${column} = $2 WHERE id = $1`, [id, old]);
      }
      for (const column of columns) {
        const result = await reEncrypt(database, bothCipher, column);
        expect([column.name, result]).toEqual([column.name, { reEncrypted: 1, unreadable: 0, left: 0 }]);
      }
      await client.call('POST', `/webhook-endpoints/${id}/test`);
      const [{ headers, body }] = receiver.received as [Received];
      expect(headers.authorization).toBe('Bearer of-the-receiver');
      for (const secret of [first, second])
        expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toBeDefined();
      // A ciphertext that is moved to another column cannot be decrypted.
      await database.query('UPDATE webhook_endpoints SET secret_ciphertext = previous_secret_ciphertext');
      expect((await client.call('POST', `/webhook-endpoints/${id}/test`)).status).toBe(500);
      await database.query('DELETE FROM webhook_endpoints');
    } finally {
      await receiver.close();
    }
  });

  it('with hashes, which are found until their key is removed', () => {
    const stored = oldCipher.hash('customer', 'a');
    expect(bothCipher.hashes('customer', 'a')).toContainEqual(stored);
    for (const others of [newCipher.hashes('customer', 'a'), bothCipher.hashes('customer', 'b')])
      expect(others).not.toContainEqual(stored);
  });

  it('by a command that is safe to repeat and is recorded in the audit log', async () => {
    const lines: string[] = [];
    const log = jest.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
    try {
      await rotateEncryptionCommand(() => service.environment).parseAsync([], { from: 'user' });
    } finally {
      log.mockRestore();
    }
    expect(lines).toEqual([
      'onboarding_sessions.start_url_ciphertext: 0 re-encrypted, 0 under another key',
      'invitations.token_ciphertext: 0 re-encrypted, 0 under another key',
      'remote_tokens.token_ciphertext: 0 re-encrypted, 0 under another key',
      'webhook_endpoints.secret_ciphertext: 0 re-encrypted, 0 under another key',
      'webhook_endpoints.previous_secret_ciphertext: 0 re-encrypted, 0 under another key',
      'webhook_endpoints.headers_ciphertext: 0 re-encrypted, 0 under another key',
      'idempotency_keys.response_ciphertext: 0 re-encrypted, 0 under another key',
    ]);
    const ciphertexts = await database.query<{ name: string }>(
      `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
        WHERE table_schema = 'public' AND column_name LIKE '%ciphertext%'`,
    );
    expect(lines.map((line) => line.replace(/:.*/, '')).sort()).toEqual(
      ciphertexts.map(({ name }) => name).sort(),
    );
    const audit = await database.query(
      `SELECT actor, details -> 'remote_tokens.token_ciphertext' AS token FROM audit_log WHERE action = 'encryption.rotated'`,
    );
    expect(audit).toEqual([{ actor: 'cli', token: { reEncrypted: 0, unreadable: 0, left: 0 } }]);
  });

  /** Updates a row after the re-encryption has read its old ciphertext. Returns the final plaintext of the row. */
  async function writeNewerMeanwhile(column: EncryptedColumn): Promise<string> {
    const id = sessionIds.at(-1)!;
    await write([id], [oldCipher.encrypt('older', START_URLS.context(id))]);
    const slow = Object.assign(Object.create(database) as Database, {
      transaction: async (work: Parameters<Database['transaction']>[0]) => {
        await write([id], [newCipher.encrypt('newer', START_URLS.context(id))]);
        return database.transaction(work);
      },
    });
    await reEncrypt(slow, bothCipher, column);
    return newCipher.decrypt(await readRow(id), START_URLS.context(id));
  }

  itAtLength('turns red when the row is not compared with what was read', async () => {
    const { replace } = START_URLS;
    const text = replace.replace('AND t.start_url_ciphertext = r.read', '');
    expect(text).not.toBe(replace);
    const byIdOnly = { ...START_URLS, replace: text };
    expect(await writeNewerMeanwhile(byIdOnly)).toBe('older');
  });

  it('refuses to start if no key encrypted the stored values, names the missing one, and starts once the values are deleted', async () => {
    const store = await createTestDatabase();
    const stored = store.open();
    const start = (...keys: string[]) =>
      startServiceProcess({
        ...service.sandbox!.environment,
        DATABASE_URL: store.url,
        ENCRYPTION_KEYS: keys.join(),
        ROLE: 'api',
      });
    try {
      const token = oldCipher.encrypt('token', TOKENS.context('tenant'));
      const now = new Date();
      await stored.prisma.remoteToken.update({
        where: { name: 'tenant' },
        data: { tokenCiphertext: token, obtainedAt: now, renewAt: now, expiresAt: now },
      });
      const id = newCipher.missingKeyOf(token)!;
      await expect(start(NEW)).rejects.toThrow(`ENCRYPTION_KEYS lacks the key ${id}`);
      const started = await start(NEW, OLD);
      await started.stop();
      expect(started.logs()).not.toContain('ENCRYPTION_KEYS');

      const statements = blockOf(await readPage('docs/security.md'), 'lost-key');
      for (const { name } of ENCRYPTED_COLUMNS)
        expect(statements).toMatch(new RegExp(`(UPDATE|DELETE FROM) ${name.split('.')[0]}\\b`));
      await withClient(store.url, (client) => client.query(statements));
      await (await start(NEW)).stop();
      expect(await stored.query('SELECT name FROM remote_tokens')).toEqual([{ name: 'tenant' }]);
    } finally {
      await store.drop();
    }
  });
});

describe('R37: what was tampered with is refused', () => {
  const TEXT = startUrlOf('a');
  const NONCE_BYTES = 12;
  const TAG_BYTES = 16;

  /** Returns the kinds of tampering that decryption accepts. */
  function acceptedBy(cipher: Cipher): string[] {
    const stored = cipher.encrypt(TEXT, 'row/a');
    const opens = (bytes: Uint8Array, context = 'row/a') => {
      try {
        cipher.decrypt(bytes, context);
        return true;
      } catch {
        return false;
      }
    };
    expect(opens(stored)).toBe(true);
    const flipped = [...stored.keys()].filter((at) =>
      opens(Buffer.from(stored.map((byte, index) => (index === at ? byte ^ 1 : byte)))),
    );
    const cut = Array.from({ length: stored.length }, (_, index) => index + 1).filter((count) =>
      opens(stored.subarray(0, -count)),
    );
    return [
      ...flipped.map((at) => `byte ${at} flipped`),
      ...cut.map((count) => `${count} bytes cut off`),
      ...(opens(stored, 'row/b') ? ['moved to another row'] : []),
      ...(opens(Buffer.concat([stored, Buffer.alloc(1)])) ? ['lengthened'] : []),
    ];
  }

  it('each byte flipped, the tag cut, rows swapped', () => {
    const accepted = [...acceptedBy(newCipher), ...acceptedBy(bothCipher)];
    promise('R37', { figure: `${accepted.length} ways to tamper are accepted`, bound: '0' });
    expect(accepted).toEqual([]);
  });

  itAtLength('turns red when the tag may have any length', () => {
    class TakesAnyTag extends Cipher {
      override decrypt(stored: Uint8Array, context: string): string {
        const bytes = Buffer.from(stored);
        const header = bytes.subarray(0, HEADER_BYTES);
        const at = HEADER_BYTES + NONCE_BYTES;
        const secret = Buffer.from(NEW, 'base64');
        const opener = createDecipheriv('aes-256-gcm', secret, bytes.subarray(HEADER_BYTES, at));
        opener.setAAD(Buffer.concat([header, Buffer.from(context)]));
        opener.setAuthTag(bytes.subarray(at + TEXT.length));
        const text = opener.update(bytes.subarray(at, at + TEXT.length));
        return Buffer.concat([text, opener.final()]).toString();
      }
    }
    expect(acceptedBy(new TakesAnyTag(withKeys(NEW)))).toContain(`${TAG_BYTES - 4} bytes cut off`);
  });

  itAtLength('turns red when a ciphertext is not bound to its row', () => {
    class BindsNothing extends Cipher {
      protected override sealer(secret: Buffer, nonce: Buffer) {
        return createCipheriv('aes-256-gcm', secret, nonce, { authTagLength: TAG_BYTES });
      }
      protected override opener(secret: Buffer, nonce: Buffer) {
        return createDecipheriv('aes-256-gcm', secret, nonce, { authTagLength: TAG_BYTES });
      }
    }
    expect(acceptedBy(new BindsNothing(withKeys(NEW)))).toEqual(['moved to another row']);
  });
});
