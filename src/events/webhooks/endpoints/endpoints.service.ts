import { Injectable } from '@nestjs/common';
import { Environment } from '../../../platform/env/environment.js';
import type { Page, PageQuery } from '../../../platform/http/page.js';
import { refuse } from '../../../platform/http/validation.js';
import { refusalOfHost } from '../send/addresses.js';
import { endpointInputErrors, eventNamesOf, type EndpointInput } from './endpoint-input.js';
import {
  DEFAULT_OVERLAP_SECONDS,
  type NewWebhookEndpoint,
  type SecretRotation,
  type WebhookEndpointChange,
} from './endpoints.dto.js';
import { WebhookEndpointsStore, type EndpointChange, type StoredEndpoint } from './endpoints.store.js';
import { WebhookEnablingStore } from './enabling.store.js';
import { WebhookSecretsStore, type RotatedSecret } from '../secrets/secrets.store.js';
import type { UrlRules } from './url.js';

/** Validates and executes requests about endpoints. Throws Problem invalid_request with every invalid field. */
@Injectable()
export class WebhookEndpoints {
  private readonly rules: UrlRules;

  constructor(
    private readonly store: WebhookEndpointsStore,
    private readonly enabling: WebhookEnablingStore,
    private readonly secrets: WebhookSecretsStore,
    { NODE_ENV, WEBHOOK_ALLOW_PRIVATE_ADDRESSES: allowsPrivate }: Environment,
  ) {
    this.rules = {
      // Plain http would expose events and the custom headers on the network.
      allowsHttp: allowsPrivate || NODE_ENV !== 'production',
      refusalOfHost: (host) => (allowsPrivate ? null : refusalOfHost(host)),
    };
  }

  async create(
    input: NewWebhookEndpoint,
    actor: string,
  ): Promise<{ readonly endpoint: StoredEndpoint; readonly secret: string }> {
    this.check(input);
    const { url, types = [], description = '', headers = {} } = input;
    const { id, secret } = await this.store.create(
      { url: canonical(url), types: eventNamesOf(types), description, headers, secret: input.secret },
      actor,
    );
    return { endpoint: await this.store.get(id), secret };
  }

  get(id: string): Promise<StoredEndpoint> {
    return this.store.get(id);
  }

  list(query: PageQuery): Promise<Page<StoredEndpoint>> {
    return this.store.list(query);
  }

  /** Disables first and enables last, so that other changes apply before anything is sent. */
  async change(id: string, input: WebhookEndpointChange, actor: string): Promise<StoredEndpoint> {
    this.check(input);
    const { enabled, skipMissed = false } = input;
    if (skipMissed && enabled !== true)
      refuse([{ field: 'skipMissed', message: 'must be given together with enabled: true' }]);
    const change = changeOf(input);
    if (enabled === false) await this.enabling.disable(id, actor);
    if (Object.keys(change).length > 0) {
      const { isRepaired } = await this.store.change(id, change, actor);
      if (isRepaired) await this.enabling.makeDue(id);
    }
    if (enabled === true)
      await (skipMissed ? this.enabling.enableWithoutMissed(id, actor) : this.enabling.enable(id, actor));
    return this.store.get(id);
  }

  delete(id: string, actor: string): Promise<void> {
    return this.enabling.delete(id, actor);
  }

  async rotateSecret(
    id: string,
    { secret, overlapSeconds = DEFAULT_OVERLAP_SECONDS }: SecretRotation,
    actor: string,
  ): Promise<RotatedSecret> {
    this.check({ ...(secret !== undefined && { secret }) });
    return this.secrets.rotate(id, secret, overlapSeconds, actor);
  }

  private check(input: EndpointInput): void {
    refuse(endpointInputErrors(input, this.rules));
  }
}

/** Returns the URL as it will be connected to: all notations of an address or name become one. */
const canonical = (url: string): string => new URL(url).href;

const changeOf = ({ url, types, description, headers }: WebhookEndpointChange): EndpointChange => ({
  ...(url !== undefined && { url: canonical(url) }),
  ...(types !== undefined && { types: eventNamesOf(types) }),
  ...(description !== undefined && { description }),
  ...(headers !== undefined && { headers }),
});
