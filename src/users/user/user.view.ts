import { ApiProperty } from '@nestjs/swagger';
import type { Metadata } from '../metadata.rules.js';
import type { UserRecord } from './users.store.js';

export class GridLocationView {
  @ApiProperty({
    format: 'uuid',
    description: "The remote service's id, used to start onboarding sessions",
  })
  id: string;

  @ApiProperty({ pattern: '^[0-9]{18}$', description: 'Always 18 digits' })
  ean: string;
}

/** A registered user. The ids are the remote service's own, so they work in both systems. */
export class UserView {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty()
  tenantReference: string;

  @ApiProperty({
    description: 'As returned by the remote service, like the names and the email; often empty',
  })
  tenantName: string;

  @ApiProperty()
  firstName: string;

  @ApiProperty()
  lastName: string;

  @ApiProperty()
  email: string;

  @ApiProperty({ type: [GridLocationView], description: 'Ordered by EAN' })
  gridLocations: GridLocationView[];

  @ApiProperty({ type: 'object', additionalProperties: true, description: 'As given at the registration' })
  metadata: Metadata;

  @ApiProperty({
    format: 'date-time',
    description:
      "The remote service's time; the time of the confirmation if it gave none in the years 1 to 9999",
  })
  createdAt: string;

  @ApiProperty({
    format: 'date-time',
    description: "The remote service's time; `createdAt` if it gave none in the years 1 to 9999",
  })
  updatedAt: string;

  @ApiProperty({ format: 'date-time', description: 'When it was confirmed here' })
  registeredAt: string;
}

export class UserPage {
  @ApiProperty({ type: [UserView] })
  items: UserView[];

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The cursor of the next page; null after the last',
  })
  next: string | null;
}

export function toUserView({ createdAt, updatedAt, registeredAt, metadata, ...user }: UserRecord): UserView {
  return {
    ...user,
    metadata: metadata as Metadata,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
    registeredAt: registeredAt.toISOString(),
  };
}
