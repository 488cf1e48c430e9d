import { causes } from '../stalls/cause.rules.js';
import { look, type Look } from '../stalls/look.rules.js';

/** Why an inverter needs a person. */
export const INVERTER_CAUSES = causes({
  shared: {
    waitsFor: 'tenant',
    urgency: 'now',
    title: 'The remote service lists the inverter for five or more customers at once.',
    text: ({ customers }) =>
      `The remote service lists the inverter for ${String(customers)} customers at once.`,
    before: 'Ask the provider at once whose it is: customers may be mixed up.',
    remedies: [],
  },
});

export interface InverterFacts {
  /** How many customers have a session that lists it. */
  readonly customers: number;
  /** When the fifth of them was found. */
  readonly sharedSince: Date | null;
}

export function stallOfInverter({ customers, sharedSince: since }: InverterFacts, now: Date): Look {
  return look([since !== null && { cause: 'shared', since, evidence: { customers } }], now);
}
