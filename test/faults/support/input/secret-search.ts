import { withClient } from '../../../setup/database/with-client.js';

/** Texts to search, by the name of the place that contains them. */
type Places = ReadonlyMap<string, string>;

/** Returns `secret in place` for every secret found in a place: unchanged, URL-encoded, JSON-escaped, in base64 or in hex. */
export function findSecrets(secrets: Readonly<Record<string, string>>, places: Places): string[] {
  return Object.entries(secrets).flatMap(([name, secret]) => {
    const forms = new Set([
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
      Buffer.from(secret).toString('base64').replace(/=+$/, ''),
      Buffer.from(secret).toString('base64url'),
      Buffer.from(secret).toString('hex'),
    ]);
    return [...places]
      .filter(([, text]) => [...forms].some((form) => text.includes(form)))
      .map(([place]) => `${name} in ${place}`);
  });
}

export const dumpTables = (databaseUrl: string): Promise<Places> =>
  withClient(databaseUrl, (client) =>
    dumpThrough(async (statement) => (await client.query<{ text: string }>(statement)).rows),
  );

/** Dumps the tables as an open transaction sees them. */
export async function dumpThrough(
  query: (statement: string) => Promise<readonly { readonly text: string }[]>,
): Promise<Places> {
  const tables = await query(
    `SELECT format('%I.%I', table_schema, table_name) AS text FROM information_schema.tables
      WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')`,
  );
  const dump = new Map<string, string>();
  for (const { text: table } of tables) {
    const rows = await query(`SELECT t::text AS text FROM ${table} t`);
    dump.set(`table ${table}`, rows.map(({ text }) => text).join('\n'));
  }
  return dump;
}
