import { Module } from '@nestjs/common';
import { EventsModule } from '../events.module.js';
import { WebhookDeliveriesController } from './webhook-deliveries.controller.js';
import { WebhookDeliveriesStore } from './webhook-deliveries.store.js';
import { WebhookDrainStore } from './webhook-drain.store.js';
import { WebhookDrains } from './webhook-drains.service.js';
import { WebhookEnablingStore } from './webhook-enabling.store.js';
import { WebhookEndpointsController } from './webhook-endpoints.controller.js';
import { WebhookEndpoints } from './webhook-endpoints.service.js';
import { WebhookEndpointsStore } from './webhook-endpoints.store.js';
import { WebhookFanOut } from './webhook-fan-out.service.js';
import { WebhookRedeliveryStore } from './webhook-redelivery.store.js';
import { WebhookSealing } from './webhook-sealing.service.js';
import { WebhookSecretsStore } from './webhook-secrets.store.js';
import { WebhookSender } from './webhook-sender.service.js';
import { WebhookTest } from './webhook-test.service.js';

/** Events sent to the addresses of apps (docs/webhooks.md). */
@Module({
  imports: [EventsModule],
  controllers: [WebhookEndpointsController, WebhookDeliveriesController],
  providers: [
    WebhookDeliveriesStore,
    WebhookDrainStore,
    WebhookDrains,
    WebhookEnablingStore,
    WebhookEndpoints,
    WebhookEndpointsStore,
    WebhookFanOut,
    WebhookRedeliveryStore,
    WebhookSealing,
    WebhookSecretsStore,
    WebhookSender,
    WebhookTest,
  ],
})
export class WebhooksModule {}
