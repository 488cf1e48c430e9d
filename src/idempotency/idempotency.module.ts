import { Module } from '@nestjs/common';
import { IdempotencyKeys } from './idempotency-keys.store.js';
import { RepeatedRequests } from './repeated-requests.service.js';

@Module({ providers: [IdempotencyKeys, RepeatedRequests], exports: [IdempotencyKeys] })
export class IdempotencyModule {}
