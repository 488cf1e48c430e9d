import { ApiProperty } from '@nestjs/swagger';
import type { ErasedCounts } from '../events/catalogue.rules.js';
import type { Erasure } from './erasures.store.js';

class ErasedCountsView implements ErasedCounts {
  @ApiProperty({ type: 'integer', description: 'Grid locations whose EAN was erased' })
  gridLocations: number;

  @ApiProperty({ type: 'integer', description: 'Registrations of this tenantReference, in any status' })
  registrations: number;

  @ApiProperty({
    type: 'integer',
    description: 'Sessions whose metadata and startUrl were erased; the history of their states stays',
  })
  sessions: number;

  @ApiProperty({ type: 'integer', description: 'Stored responses of the remote service' })
  observations: number;

  @ApiProperty({ type: 'integer', description: 'Inverters, counted once per session that listed them' })
  inverters: number;

  @ApiProperty({
    type: 'integer',
    description: 'Events whose tenantReference, metadata and inverter ids were erased',
  })
  events: number;
}

class RemoteErasureView {
  @ApiProperty({ enum: [false] })
  erased: false;

  @ApiProperty({ description: 'The remaining steps, for people' })
  detail: string;
}

/** What was erased here, in numbers, and what was not. */
export class ErasureReceiptView {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'null if there were only registrations that had not become a user',
  })
  userId: string | null;

  @ApiProperty({ format: 'date-time' })
  erasedAt: string;

  @ApiProperty({ type: ErasedCountsView })
  erased: ErasedCounts;

  @ApiProperty({
    type: RemoteErasureView,
    description: 'The Solar Curtailment Service, which has no call that erases a user',
  })
  remote: RemoteErasureView;
}

export const toReceipt = ({ erasedAt, ...erasure }: Erasure): ErasureReceiptView => ({
  ...erasure,
  erasedAt: erasedAt.toISOString(),
  remote: { erased: false, detail: leftToDo(erasure.userId) },
});

const leftToDo = (userId: string | null): string =>
  userId === null
    ? 'The Solar Curtailment Service has no call to erase a user: if one of the registrations may have reached it, ask the provider to look for the reference.'
    : `The Solar Curtailment Service has no call to erase a user: ask the provider to erase ${userId}.`;
