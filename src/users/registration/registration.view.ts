import { ApiProperty } from '@nestjs/swagger';
import { REGISTRATION_STATUSES, type RegistrationStatus } from './registration.rules.js';
import type { ListedRegistration } from './registrations.store.js';

export class AskedGridLocationView {
  @ApiProperty({ pattern: '^[0-9]{18}$' })
  ean: string;
}

/** What the tenant requested, and what became of it. */
export class RegistrationView {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty()
  tenantReference: string;

  @ApiProperty({ type: [AskedGridLocationView], description: 'In the order sent' })
  gridLocations: AskedGridLocationView[];

  @ApiProperty({
    enum: REGISTRATION_STATUSES,
    description:
      'pending: not sent yet, or being sent. registered: see userId. rejected: the remote service refused it. ' +
      'uncertain: the remote service may have registered it; a person decides. discarded: a person gave it up.',
  })
  status: RegistrationStatus;

  @ApiProperty({ type: String, format: 'uuid', nullable: true, description: 'Only if registered' })
  userId: string | null;

  @ApiProperty({ type: 'integer', description: 'Number of calls started for it' })
  attempts: number;

  @ApiProperty({ type: String, nullable: true, description: 'Why the last call returned no user, in words' })
  lastError: string | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When a pending registration is sent next',
  })
  nextAttemptAt: string | null;

  @ApiProperty({ format: 'date-time' })
  createdAt: string;

  @ApiProperty({ format: 'date-time' })
  updatedAt: string;
}

export class RegistrationPage {
  @ApiProperty({ type: [RegistrationView] })
  items: RegistrationView[];

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The cursor of the next page; null after the last',
  })
  next: string | null;
}

export function toRegistrationView(registration: ListedRegistration): RegistrationView {
  const { id, tenantReference, eans, status, userId, attempts, lastError } = registration;
  return {
    id,
    tenantReference,
    gridLocations: eans.map((ean) => ({ ean })),
    status,
    userId,
    attempts,
    lastError,
    nextAttemptAt: registration.nextAttemptAt?.toISOString() ?? null,
    createdAt: registration.createdAt.toISOString(),
    updatedAt: registration.updatedAt.toISOString(),
  };
}
