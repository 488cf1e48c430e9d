import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { DeliveryModule } from '../delivery/delivery.module.js';
import { EventHandlers } from './handlers.service.js';

@Module({ imports: [DiscoveryModule, DeliveryModule], providers: [EventHandlers] })
export class HandlersModule {}
