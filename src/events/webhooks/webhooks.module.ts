import { Module } from '@nestjs/common';
import { EventsModule } from '../events.module.js';
import { WebhookDeliveriesController } from './log/deliveries.controller.js';
import { WebhookDeliveriesStore } from './log/deliveries.store.js';
import { WebhookDrainStore } from './deliver/drain.store.js';
import { WebhookDrains } from './deliver/drains.service.js';
import { WebhookEnablingStore } from './endpoints/enabling.store.js';
import { WebhookEndpointsController } from './endpoints/endpoints.controller.js';
import { WebhookEndpoints } from './endpoints/endpoints.service.js';
import { WebhookEndpointsStore } from './endpoints/endpoints.store.js';
import { WebhookFanOut } from './deliver/fan-out.service.js';
import { WebhookRedeliveryStore } from './log/redelivery.store.js';
import { WebhookSealing } from './secrets/sealing.service.js';
import { WebhookSecretsStore } from './secrets/secrets.store.js';
import { WebhookSender } from './send/sender.service.js';
import { WebhookTest } from './endpoints/test.service.js';

/** Sends events to endpoints of apps (docs/webhooks.md). */
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
