import { Module } from '@nestjs/common';
import { ApiKeysController } from './api-keys.controller.js';
import { ManagedKeysStore } from './managed-keys.store.js';
import { RefusedRequests } from './refused-requests.service.js';

@Module({ controllers: [ApiKeysController], providers: [ManagedKeysStore, RefusedRequests] })
export class ApiKeysModule {}
