import type { InternalResponse } from './internal-requests.js';
import type { ItemResult } from './bulk-actions.store.js';

export const UNAUTHENTICATED: ItemResult = {
  status: 'failed',
  code: 'unauthenticated',
  detail: 'The caller of the action may no longer act',
};

/** Returns the result without what PostgreSQL may refuse of it. */
export const withoutText = (result: ItemResult): ItemResult => ({
  ...result,
  detail: 'The result cannot be stored as it was',
});

/** Returns the result of a request for one id. */
export function resultOf({ status, body }: Pick<InternalResponse, 'status' | 'body'>): ItemResult {
  if (status < 400) return { status: 'done', code: null, detail: null };
  const { code = null, detail = null } = (body ?? {}) as { code?: string; detail?: string };
  return {
    // The subject is gone, or has changed so that the operation does not apply any more.
    status: status === 404 || status === 409 ? 'skipped' : 'failed',
    code,
    // The detail of remote_rejected and the like quotes the remote service, whose words may be personal data.
    detail: code?.startsWith('remote_') ? null : detail,
  };
}
