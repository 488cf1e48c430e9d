import {
  field,
  instant,
  listOf,
  object,
  oneOf,
  resourceOf,
  text,
  uuid,
  schemaOf,
} from '../../platform/openapi/schema-of.js';
import { EAN_WARNINGS } from '../ean.rules.js';
import { REFERENCE_WARNINGS } from '../tenant-reference.rules.js';
import type { Metadata } from '../metadata.rules.js';

class GridLocationView extends schemaOf({
  id: uuid("The remote service's id, used to start onboarding sessions"),
  ean: field<string>({ type: String, pattern: '^[0-9]{18}$' }, 'Always 18 digits'),
}) {}

/** A registered user. Its ids are those of the remote service, so they are valid in both systems. */
const FIELDS = {
  id: uuid(),
  tenantReference: text(),
  tenantName: text('As returned by the remote service, like the names and the email; often empty'),
  firstName: text(),
  lastName: text(),
  email: text(),
  gridLocations: listOf(GridLocationView, 'Ordered by EAN'),
  metadata: object<Metadata>('As given at the registration'),
  createdAt: instant(
    "The remote service's time; the time of the confirmation if it gave none in the years 1 to 9999",
  ),
  updatedAt: instant("The remote service's time; `createdAt` if it gave none in the years 1 to 9999"),
  registeredAt: instant('When we recorded the confirmation'),
};

class WarningView extends schemaOf({
  field: field<string>({ type: String, example: 'gridLocations[0].ean' }, 'The place in the request'),
  code: oneOf(
    [...EAN_WARNINGS, ...REFERENCE_WARNINGS],
    'ean_check_digit: the GS1 check digit is wrong, so a digit is probably mistyped. ean_elsewhere: other references have this EAN, too. reference_normalised: the reference is stored in another form. reference_alike: other references look like it. reference_rounded: it looks rounded.',
  ),
  message: text('For people. Does not repeat the EAN'),
}) {}
export const WARNINGS = listOf(
  WarningView,
  'What is conspicuous about the request, which was accepted nevertheless. Empty if nothing is',
);

export class UserView extends resourceOf('user', FIELDS) {}
export class RegisteredUserView extends resourceOf('user', { ...FIELDS, warnings: WARNINGS }) {}
export type UserRecord = Omit<UserView, 'object'>;
