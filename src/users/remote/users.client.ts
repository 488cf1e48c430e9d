import type { DocumentedFields } from '../../remote/drift.js';
import type { RemoteRequest } from '../../remote/outcome.rules.js';
import { UnreadableResponse } from '../../remote/wire/read-response.js';
import type { Fields } from '../../remote/wire/read-field.js';
import { isSameReference, readRemoteUser, type RequestedUser, type RemoteUser } from './remote-user.rules.js';

/** The response to a registration (interface sections 2.3 and 2.4). */
export const USER_RESPONSE: DocumentedFields = {
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

/** Returns the request that registers a user (interface section 4.2). Its body is text, since JavaScript cannot represent 18 digits. */
export function registerUserRequest({ tenantReference, eans }: RequestedUser): RemoteRequest {
  const gridLocations = eans.map((ean) => `{"ean":${ean}}`).join(',');
  return {
    operation: 'register_user',
    method: 'POST',
    path: '/api/v1/ssa/users',
    headers: { 'content-type': 'application/json' },
    body: `{"tenantReference":${JSON.stringify(tenantReference)},"gridLocations":[${gridLocations}]}`,
  };
}

/** Returns the user of interface section 2.3. If the response does not confirm the request, throws UnreadableResponse with its faults. */
export function readRegisterUserResponse(fields: Fields, requested: RequestedUser): RemoteUser {
  const read = readRemoteUser(fields, requested, 'service');
  if ('user' in read) return read.user;
  const { tenantReference } = fields;
  const isOfAnother =
    typeof tenantReference === 'string' && !isSameReference(tenantReference, requested.tenantReference);
  throw new UnreadableResponse(
    read.faults.map(({ field, message }) => `${field} ${message}`).join('; '),
    isOfAnother ? 'tenantReference' : undefined,
  );
}
