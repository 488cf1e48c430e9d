import { Module } from '@nestjs/common';
import { ErasureController } from './erasure.controller.js';
import { ErasuresStore } from './erasures.store.js';

@Module({ controllers: [ErasureController], providers: [ErasuresStore] })
export class ErasureModule {}
