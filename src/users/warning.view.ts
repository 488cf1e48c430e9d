import { field, listOf, oneOf, schemaOf, text } from '../platform/openapi/schema-of.js';
import { EAN_WARNINGS } from './ean.rules.js';

const WarningView = schemaOf('WarningView', {
  field: field<string>({ type: String, example: 'gridLocations[0].ean' }, 'The place in the request'),
  code: oneOf(
    EAN_WARNINGS,
    'ean_check_digit: the GS1 check digit is wrong, so a digit is probably mistyped. ean_elsewhere: other references have this EAN, too.',
  ),
  message: text('For people. Does not repeat the EAN'),
});

export const WARNINGS = listOf(
  WarningView,
  'What is conspicuous about the request, which was accepted nevertheless. Empty if nothing is',
);
