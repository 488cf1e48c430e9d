import { Module } from '@nestjs/common';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { DeliveryModule } from '../delivery/delivery.module.js';
import { StallKinds } from '../stalls/stall-kinds.js';
import { StallsModule } from '../stalls/stalls.module.js';
import { ENDPOINT_STALLS } from './endpoints/endpoint-stalls.store.js';
import { WebhookDeliveriesController } from './log/deliveries.controller.js';
import { WebhookDeliveriesStore } from './log/deliveries.store.js';
import { WebhookEndpointsController } from './endpoints/endpoints.controller.js';
import { WebhookEndpoints } from './endpoints/endpoints.service.js';
import { WebhookEndpointsStore } from './endpoints/endpoints.store.js';
import { WebhookAttemptsStore } from './send/attempts.store.js';
import { EndpointPlaces } from './send/endpoint-places.js';
import { WebhookOutlets } from './send/webhook-outlet.js';
import { WebhookSealing } from './secrets/sealing.service.js';
import { WebhookSender } from './send/sender.service.js';

@Module({
  imports: [DeliveryModule, IdempotencyModule, StallsModule],
  controllers: [WebhookEndpointsController, WebhookDeliveriesController],
  providers: [
    WebhookDeliveriesStore,
    WebhookAttemptsStore,
    EndpointPlaces,
    WebhookOutlets,
    WebhookEndpoints,
    WebhookEndpointsStore,
    WebhookSealing,
    WebhookSender,
  ],
})
export class WebhooksModule {
  constructor(kinds: StallKinds) {
    kinds.declare(ENDPOINT_STALLS);
  }
}
