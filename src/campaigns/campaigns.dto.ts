import { CursorOf, LimitQuery, PageQuery } from '../platform/http/page.js';
import { ChoiceParameter, FlagParameter, OptionalText } from '../platform/http/parameters.js';
import { lineFault } from '../users/tenant-reference.rules.js';
import {
  CAMPAIGN_STATUSES,
  ENCODINGS,
  ROW_PROBLEMS,
  ROW_STATUSES,
  type CampaignFormat,
  type CampaignStatus,
  type RowProblemCode,
  type RowStatus,
} from './campaign.rules.js';

const MAX_NAME_LENGTH = 200;
const nameFault = (value: unknown) => lineFault(value, MAX_NAME_LENGTH);

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
    'The encoding of the file. Default: it is detected. A byte order mark precedes it',
  )
  encoding?: CampaignFormat['encoding'];
}

export class CampaignsQuery extends PageQuery {
  @ChoiceParameter(CAMPAIGN_STATUSES)
  status?: CampaignStatus;
}

export class CampaignRowsQuery extends LimitQuery {
  @CursorOf({ line: 'integer' })
  cursor?: { readonly line: string };

  @ChoiceParameter(ROW_STATUSES)
  status?: RowStatus;

  @ChoiceParameter(ROW_PROBLEMS)
  problem?: RowProblemCode;
}
