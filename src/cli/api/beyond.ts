import { isDeepStrictEqual } from 'node:util';
import { counted } from '../../platform/counted.rules.js';
import type { Schemas } from '#client/client.js';
import { print, printError } from '../print.js';
import { wordsOf } from './campaign-report.js';
import type { Beyond } from './operation-command.js';

/** `all` is the empty list, which means all types to the API. */
const withAllTypes: Beyond['values'] = ({ types, ...values }) => ({
  ...values,
  types: isDeepStrictEqual(types, ['all']) ? [] : types,
});

/** What commands do beyond the call of their operation. */
export const BEYOND: Readonly<Record<string, Beyond>> = {
  probeCredentials: {
    fails: ({ outcome }: Schemas['CredentialsProbeView']) => !['valid', 'token_issued'].includes(outcome),
  },
  testWebhookEndpoint: { fails: ({ delivered }: Schemas['WebhookTestView']) => !delivered },
  startSession: { names: { reuse: 'no-reuse' } },
  createWebhookEndpoint: { values: withAllTypes },
  changeWebhookEndpoint: {
    names: { enabled: ['enable', 'disable'] },
    values: withAllTypes,
    confirm: ({ id, skipMissed }) =>
      skipMissed
        ? `this skips all events that the endpoint ${String(id)} missed. This cannot be undone.`
        : undefined,
  },
  rotateWebhookSecret: {
    confirm: ({ id, overlapSeconds }) =>
      overlapSeconds === 0
        ? `this ends all earlier secrets of the endpoint ${String(id)} now. This cannot be undone.`
        : undefined,
  },
  listWebhookEndpoints: {
    columns: {
      STATE: ({ enabled, disabledReason, failures }: Schemas['WebhookEndpointView']) => {
        if (enabled) return failures > 0 ? 'retrying' : 'enabled';
        return disabledReason === null || disabledReason === 'requested' ? 'disabled' : disabledReason;
      },
    },
  },
  listWebhookDeliveries: {
    columns: {
      LAST: ({ lastStatus, lastError }: Schemas['WebhookDeliveryView']) =>
        lastStatus ?? (lastError && 'error'),
    },
  },
  redeliverToWebhookEndpoint: {
    print: ({ redelivered, next }: Schemas['RedeliveryView']) => {
      print(`${counted(redelivered, 'event is', 'events are')} sent again`);
      if (next !== null) printError(`there are more: repeat with --after ${next}`);
    },
  },
  listCampaignRows: {
    columns: { PROBLEMS: ({ problems }: Schemas['CampaignRowView']) => problems.map(wordsOf).join('; ') },
  },
};
