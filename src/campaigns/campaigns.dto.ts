import { ChoiceParameter, FlagParameter, OptionalText } from '../platform/http/parameters.js';
import { visibleLineFault } from '../platform/spelling.rules.js';
import { ENCODINGS, type CampaignFormat } from './campaign.rules.js';

const MAX_NAME_LENGTH = 200;
const nameFault = (value: unknown) => visibleLineFault(value, MAX_NAME_LENGTH);

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
  encoding?: CampaignFormat['encoding'];
}
