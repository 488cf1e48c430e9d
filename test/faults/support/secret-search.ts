import pg from 'pg';

/** Texts by the name of the place where they were found. */
export type Places = ReadonlyMap<string, string>;

/** `secret in place` for every secret that stands in one, in any form that it is likely to take there. */
export function findSecrets(secrets: Readonly<Record<string, string>>, places: Places): string[] {
  return Object.entries(secrets).flatMap(([name, secret]) => {
    const forms = new Set([
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
      Buffer.from(secret).toString('base64'),
      Buffer.from(secret).toString('hex'),
    ]);
    return [...places]
      .filter(([, text]) => [...forms].some((form) => text.includes(form)))
      .map(([place]) => `${name} in ${place}`);
  });
}

/** Every row of every table, as text. */
export async function dumpTables(databaseUrl: string): Promise<Places> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return await dumpThrough(async (statement) => (await client.query<{ text: string }>(statement)).rows);
  } finally {
    await client.end();
  }
}

/** The same as a transaction that is still open sees it. */
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
