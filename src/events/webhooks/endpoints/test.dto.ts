import { ApiProperty } from '@nestjs/swagger';

export class WebhookTestView {
  @ApiProperty({ description: 'Whether the receiver answered with a 2xx' })
  delivered: boolean;

  @ApiProperty({ format: 'uuid', description: 'Sent as `webhook-id`' })
  eventId: string;

  @ApiProperty({ type: 'integer', nullable: true, description: 'HTTP status; null when there was no answer' })
  status: number | null;

  @ApiProperty({ type: String, nullable: true, description: 'Why it is no success' })
  error: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The first kilobyte of the answer, without what looks like a secret',
  })
  answer: string | null;

  @ApiProperty({ type: 'integer', description: 'From looking up the name to the end of the answer' })
  durationMs: number;
}
