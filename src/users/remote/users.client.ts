import { parseLossless } from '../../platform/json/lossless.js';
import type { DocumentedFields } from '../../remote/drift/drift.js';
import type { RemoteAnswer, RemoteRequest } from '../../remote/outcome.rules.js';
import { UnreadableAnswer } from '../../remote/wire/read-response.js';
import { readObject } from '../../remote/wire/read-field.js';
import { readRemoteUser, type AskedUser, type RemoteUser } from './remote-user.rules.js';

/** Interface sections 2.3 and 2.4. */
export const USER_ANSWER: DocumentedFields = {
  id: 'UUID',
  firstName: 'string',
  lastName: 'string',
  email: 'string',
  tenantName: 'string',
  tenantReference: 'string',
  createdAt: 'timestamp',
  updatedAt: 'timestamp',
  gridLocations: [{ id: 'UUID', ean: 'number' }],
};

/**
 * Returns the request that registers a user (interface section 4.2). The body is built as text: there an EAN is a bare number of 18
 * digits, which no JavaScript number can represent.
 */
export function registerUserRequest({ tenantReference, eans }: AskedUser): RemoteRequest {
  const gridLocations = eans.map((ean) => `{"ean":${ean}}`).join(',');
  return {
    operation: 'register_user',
    method: 'POST',
    path: '/api/v1/ssa/users',
    headers: { 'content-type': 'application/json' },
    body: `{"tenantReference":${JSON.stringify(tenantReference)},"gridLocations":[${gridLocations}]}`,
  };
}

/** Returns the user of section 2.3. Throws UnreadableAnswer, naming the field, if the response does not confirm the request. */
export function readRegisterUserResponse(answer: RemoteAnswer, asked: AskedUser): RemoteUser {
  const fields = readObject(answer.body, parseLossless);
  const read = readRemoteUser(fields, asked);
  if ('user' in read) return read.user;
  const { tenantReference } = fields;
  const isOfAnother = typeof tenantReference === 'string' && tenantReference !== asked.tenantReference;
  throw new UnreadableAnswer(
    read.faults.map(({ field, message }) => `${field} ${message}`).join('; '),
    isOfAnother ? 'tenantReference' : undefined,
  );
}
