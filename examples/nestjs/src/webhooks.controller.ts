import { Body, Controller, Headers, HttpCode, Inject, Post, UnauthorizedException } from '@nestjs/common';
import { verifyWebhook, WebhookVerificationError } from '@pv-onboarding/client';
import { CustomersStore } from './customers.store.js';

@Controller('webhooks')
export class WebhooksController {
  constructor(
    @Inject('WEBHOOK_SECRETS') private readonly secrets: readonly string[],
    private readonly customers: CustomersStore,
  ) {}

  /** After any error, the event is sent again. */
  @Post()
  @HttpCode(204)
  async receive(@Headers() headers: Record<string, string>, @Body() body: Uint8Array = new Uint8Array()) {
    await this.customers.receive(this.verify(headers, body));
  }

  private verify(headers: Record<string, string>, body: Uint8Array) {
    try {
      return verifyWebhook(this.secrets, headers, body);
    } catch (error) {
      if (error instanceof WebhookVerificationError) throw new UnauthorizedException();
      throw error;
    }
  }
}
