import { ApiProperty } from '@nestjs/swagger';
import type { Metadata } from '../metadata.rules.js';
import type { UserRecord } from './users.store.js';

export class GridLocationView {
  @ApiProperty({
    format: 'uuid',
    description: "The remote service's id; onboarding sessions are started with it",
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

  @ApiProperty({ description: 'As the remote service answered, like the names and the email; often empty' })
  tenantName: string;

  @ApiProperty()
  firstName: string;

  @ApiProperty()
  lastName: string;

  @ApiProperty()
  email: string;

  @ApiProperty({ type: [GridLocationView], description: 'In the order of their EANs' })
  gridLocations: GridLocationView[];

  @ApiProperty({ type: 'object', additionalProperties: true, description: 'As given at the registration' })
  metadata: Metadata;

  @ApiProperty({
    format: 'date-time',
    description:
      "The remote service's time; that of the confirmation where it gave none of the years 1 to 9999",
  })
  createdAt: string;

  @ApiProperty({
    format: 'date-time',
    description: "The remote service's time; `createdAt` where it gave none of the years 1 to 9999",
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
