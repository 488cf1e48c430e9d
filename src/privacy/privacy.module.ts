import { Module } from '@nestjs/common';
import { ErasureController } from './erasure/erasure.controller.js';
import { ExportController } from './export/export.controller.js';
import { ExportStore } from './export/export.store.js';
import { ErasuresStore } from './erasure/erasures.store.js';
import { Retention } from './retention/retention.service.js';

@Module({
  controllers: [ErasureController, ExportController],
  providers: [ErasuresStore, ExportStore, Retention],
})
export class PrivacyModule {}
