import { randomBytes } from 'node:crypto';
import pg from 'pg';

export interface Reader {
  readonly name: string;
  readonly client: pg.Client;
  close(): Promise<void>;
}

/** Creates a login that is a member of the reader role, as docs/sql.md describes. Returns a connection of the login. */
export async function connectAsReader(url: string, role = 'pv_onboarding_reader'): Promise<Reader> {
  const name = `pv_test_reader_${randomBytes(6).toString('hex')}`;
  const owner = new pg.Client({ connectionString: url });
  await owner.connect();
  await owner.query(`CREATE ROLE ${name} LOGIN PASSWORD 'reader'`);
  await owner.query('SELECT admin.add_reader($1, $2)', [name, role]);
  const address = new URL(url);
  address.username = name;
  address.password = 'reader';
  const client = new pg.Client({ connectionString: address.href });
  await client.connect();
  return {
    name,
    client,
    close: async () => {
      await client.end();
      await owner.query(`DROP ROLE ${name}`);
      await owner.end();
    },
  };
}
