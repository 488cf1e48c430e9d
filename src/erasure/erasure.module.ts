import { Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module.js';
import { ErasureController } from './erasure.controller.js';
import { ErasuresStore } from './erasures.store.js';

@Module({
  imports: [AccessModule],
  controllers: [ErasureController],
  providers: [ErasuresStore],
})
export class ErasureModule {}
