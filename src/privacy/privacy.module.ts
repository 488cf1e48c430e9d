import { Module } from '@nestjs/common';
import { ErasureController } from './erasure/erasure.controller.js';
import { ErasuresStore } from './erasure/erasures.store.js';
import { Retention } from './retention/retention.service.js';

@Module({ controllers: [ErasureController], providers: [ErasuresStore, Retention] })
export class PrivacyModule {}
