import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Database, type Statement } from '../../../src/platform/database/database.js';

/** Seeds a bug: replaces part of a statement in this application or database. Throws if the statement does not contain the part. */
export function changeStatement(
  target: NestFastifyApplication | Database,
  statement: string | Statement,
  part: string,
  replacement: string,
): void {
  const text = textOf(statement);
  if (!text.includes(part)) throw new Error(`the statement does not contain: ${part}\n${text}`);
  const changed = text.replace(part, replacement);
  const choose = (given: string | Statement) => (textOf(given) === text ? changed : given);
  const database = target instanceof Database ? target : target.get(Database);
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

const textOf = (statement: string | Statement): string =>
  typeof statement === 'string' ? statement : statement.text;
