import { Module } from '@nestjs/common';
import { WebhookDeliveriesController } from './webhook-deliveries.controller.js';
import { WebhookDeliveriesStore } from './webhook-deliveries.store.js';
import { WebhookEndpointsController } from './webhook-endpoints.controller.js';
import { WebhookEndpoints } from './webhook-endpoints.service.js';
import { WebhookEndpointsStore } from './webhook-endpoints.store.js';
import { WebhookRedeliveryStore } from './webhook-redelivery.store.js';
import { WebhookSender } from './webhook-sender.service.js';
import { WebhookTest } from './webhook-test.service.js';

/** Events sent to the addresses of apps (docs/webhooks.md). */
@Module({
  controllers: [WebhookEndpointsController, WebhookDeliveriesController],
  providers: [
    WebhookDeliveriesStore,
    WebhookEndpoints,
    WebhookEndpointsStore,
    WebhookRedeliveryStore,
    WebhookSender,
    WebhookTest,
  ],
})
export class WebhooksModule {}
