import type { Statement, Transaction } from '../../../platform/database/database.js';
import { Problem } from '../../../platform/problem/problem.js';
import type { EventName } from '../../catalogue.rules.js';
import { SIGNING_COLUMNS, type SealedSecrets } from '../secrets/secrets.sql.js';

export const unknownEndpoint = (id: string): Problem =>
  new Problem('not_found', `There is no webhook endpoint ${id}`);

export interface HeldEndpoint extends SealedSecrets {
  readonly url: string;
  readonly isDisabled: boolean;
}

const HOLD_ENDPOINT: Statement = {
  name: 'webhooks.hold-endpoint',
  text: `
    SELECT url, disabled_at IS NOT NULL AS "isDisabled", ${SIGNING_COLUMNS}
    FROM webhook_endpoints WHERE id = $1 FOR NO KEY UPDATE`,
};

/** Locks the endpoint against all other changes and against the fan-out. Throws Problem not_found. */
export async function holdEndpoint(tx: Transaction, id: string): Promise<HeldEndpoint> {
  const [row] = await tx.query<HeldEndpoint>(HOLD_ENDPOINT, [id]);
  if (row === undefined) throw unknownEndpoint(id);
  return row;
}

export interface KeptEndpoint {
  readonly types: readonly EventName[];
  readonly readTo: string;
}

const KEEP_ENDPOINT: Statement = {
  name: 'webhooks.keep-endpoint',
  text: `
    SELECT types, read_to AS "readTo" FROM webhook_endpoints WHERE id = $1 FOR KEY SHARE`,
};

/** Locks the endpoint against deletion only. Its `read_to` may still increase. Throws Problem not_found. */
export async function keepEndpoint(tx: Transaction, id: string): Promise<KeptEndpoint> {
  const [row] = await tx.query<KeptEndpoint>(KEEP_ENDPOINT, [id]);
  if (row === undefined) throw unknownEndpoint(id);
  return row;
}
