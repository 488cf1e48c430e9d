import { ApiProperty } from '@nestjs/swagger';

export class WebhookTestView {
  @ApiProperty({ description: 'Whether the receiver responded with 2xx' })
  delivered: boolean;

  @ApiProperty({ format: 'uuid', description: 'Sent as `webhook-id`' })
  eventId: string;

  @ApiProperty({ type: 'integer', nullable: true, description: 'HTTP status; null if there was no response' })
  status: number | null;

  @ApiProperty({ type: String, nullable: true, description: 'Why the attempt failed; null if it succeeded' })
  error: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The first kilobyte of the response body, with secrets removed; null if there was no body',
  })
  answer: string | null;

  @ApiProperty({
    type: 'integer',
    description: 'Duration from resolving the name to the end of the response',
  })
  durationMs: number;
}
