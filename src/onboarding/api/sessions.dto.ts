import { MAX_BRAND_LENGTH, normaliseBrand, brandFault } from '../../platform/spelling.rules.js';
import { SESSION_STATES } from '../../events/event-schemas.rules.js';
import {
  ChoiceParameter,
  IntegerParameter,
  OptionalFlag,
  OptionalText,
} from '../../platform/http/parameters.js';
import { ReadText } from '../../platform/http/validation.js';
import { MetadataField } from '../../users/metadata.dto.js';
import type { Metadata } from '../../users/metadata.rules.js';
import type { SessionState } from '../rules/machine.rules.js';

export class NewSession {
  @ReadText(normaliseBrand)
  @OptionalText(brandFault, {
    description: 'The inverter brand; one session connects inverters of one brand',
    minLength: 1,
    maxLength: MAX_BRAND_LENGTH,
  })
  brand?: string;

  @MetadataField({
    description:
      'Your own data, returned unchanged in responses and events; at most 4,096 bytes. No personal data',
  })
  metadata?: Metadata;

  @OptionalFlag(
    'Return the session of this location and brand that is open or online, if there is one. Default: true',
  )
  reuse?: boolean;
}

export class SessionQuery {
  @IntegerParameter({
    minimum: 0,
    maximum: 86_400,
    description: 'Seconds; if our copy is older, the remote service is read first',
  })
  maxAge?: number;

  @ChoiceParameter(
    ['allow'],
    'With `maxAge`: if the remote service cannot be read, respond with our copy instead of 503 `remote_unavailable`; `stale` of the response is then true',
  )
  stale?: 'allow';

  @IntegerParameter({
    minimum: 0,
    maximum: 60,
    description: 'Seconds; respond as soon as the state changes, at the latest after this time',
  })
  wait?: number;

  @ChoiceParameter(
    SESSION_STATES,
    'With `wait`: the state that you know. If the session has another state, the response is immediate, so no change between two requests is missed. Default: the current state',
  )
  from?: SessionState;
}
