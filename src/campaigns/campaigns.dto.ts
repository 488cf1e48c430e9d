import { ChoiceParameter, FlagParameter, OptionalText } from '../platform/http/parameters.js';
import { visibleLineFault } from '../platform/spelling.rules.js';
import { ENCODINGS, type Encoding } from '../spreadsheet/encoding.rules.js';
import { NO_MAPPING, readMapping, type Mapping } from './intake/headers.rules.js';

const MAX_NAME_LENGTH = 200;
const nameFault = (value: unknown) => visibleLineFault(value, MAX_NAME_LENGTH);
const MAX_MAPPING_LENGTH = 4_000;

function mappingFault(value: unknown): string | undefined {
  const fault = visibleLineFault(value, MAX_MAPPING_LENGTH);
  if (fault !== undefined || typeof value !== 'string') return fault;
  const read = readMapping(value);
  return 'fault' in read ? read.fault : undefined;
}

/** Returns what a valid parameter `columns` says. */
export function mappingOf(columns: string | undefined): Mapping {
  const read = columns === undefined ? undefined : readMapping(columns);
  return read !== undefined && 'mapping' in read ? read.mapping : NO_MAPPING;
}

export class NewCampaignQuery {
  @OptionalText(nameFault, {
    description: 'Your name for the campaign',
    minLength: 1,
    maxLength: MAX_NAME_LENGTH,
  })
  name?: string;

  @FlagParameter('Whether the file is only checked, and nobody is registered. Default: false')
  dryRun: boolean = false;

  @FlagParameter('Whether the owners of the registered grid locations are invited. Default: false')
  invite: boolean = false;

  @FlagParameter(
    'Whether the rows, as NDJSON, are users and sessions that exist at the remote service. Default: false',
  )
  adopt: boolean = false;

  @FlagParameter(
    'Whether the references of 16 digits and more are right, although most look rounded. Default: false',
  )
  referencesConfirmed: boolean = false;

  @ChoiceParameter(
    ENCODINGS,
    'The encoding of the file. Default: the `charset` of the Content-Type, else it is detected. A byte order mark precedes it',
  )
  encoding?: Encoding;

  @OptionalText(mappingFault, {
    description:
      'What the columns become that have names of their own, as NAME:FIELD pairs: `Klantnummer:tenantReference,EAN-code:ean`. A column without a field (`Straat:`) is left out. At most 4,000 characters',
  })
  columns?: string;
}
