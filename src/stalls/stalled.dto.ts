import { PageQuery } from '../platform/http/page.js';
import {
  ChoiceParameter,
  InstantParameter,
  OptionalText,
  UuidParameter,
} from '../platform/http/parameters.js';
import { STALL_KINDS, WAITS_FOR, type StallKind, type WaitsFor } from './cause.rules.js';

const codeFault = (value: unknown) =>
  typeof value === 'string' && /^[a-z_]{1,60}$/.test(value)
    ? undefined
    : 'must be a cause, such as never_opened';
const textFault = (value: unknown) =>
  typeof value === 'string' && value !== '' && value.length <= 200
    ? undefined
    : 'must be a text of 1 to 200 characters';

export class StalledQuery extends PageQuery {
  @ChoiceParameter(STALL_KINDS, 'Only this kind')
  kind?: StallKind;

  @OptionalText(codeFault, { description: 'Only this cause, of any kind' })
  cause?: string;

  @ChoiceParameter(WAITS_FOR, 'Only what waits for these')
  waitsFor?: WaitsFor;

  @UuidParameter('Only customers of this campaign')
  campaignId?: string;

  @OptionalText(textFault, { description: 'Only this brand' })
  brand?: string;

  @UuidParameter('Only this grid location')
  gridLocationId?: string;

  @OptionalText(textFault, { description: 'Only the customer with this reference' })
  tenantReference?: string;

  @InstantParameter('Only trouble that began at or after this instant')
  since?: Date;
}
