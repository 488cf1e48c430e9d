import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Database, type Statement } from '../../../src/platform/database/database.js';

/**
 * Puts another text in the place of a named statement, in this application only: the bug that a test is to find. Fails when the
 * part to be changed is not there, since such a bug would be none.
 */
export function changeStatement(
  app: NestFastifyApplication,
  { name, text }: Statement,
  part: string,
  replacement: string,
): void {
  if (!text.includes(part)) throw new Error(`the statement ${name} does not hold: ${part}`);
  const changed = { name, text: text.replace(part, replacement) };
  const choose = (given: string | Statement) =>
    typeof given !== 'string' && given.name === name ? changed : given;
  const database = app.get(Database);
  const query = database.query.bind(database);
  const transaction = database.transaction.bind(database);
  database.query = <Row>(given: string | Statement, values?: readonly unknown[]) =>
    query<Row>(choose(given), values);
  database.transaction = (work) =>
    transaction((tx) =>
      work({
        ...tx,
        query: <Row>(given: string | Statement, values?: readonly unknown[]) =>
          tx.query<Row>(choose(given), values),
      }),
    );
}
