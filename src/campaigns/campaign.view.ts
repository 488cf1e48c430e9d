import * as schema from '../platform/openapi/schema-of.js';
import { CAMPAIGN_STATUSES, type CampaignFormat } from './campaign.rules.js';

const CampaignFormatView = schema.schemaOf('CampaignFormatView', {
  type: schema.oneOf<CampaignFormat['type']>(['csv', 'ndjson']),
  encoding: schema.oneOf<CampaignFormat['encoding']>(['utf-8', 'utf-16le', 'utf-16be', 'windows-1252']),
  bom: schema.flag('Whether the file begins with a byte order mark'),
  delimiter: schema.nullable(
    schema.oneOf<CampaignFormat['delimiter']>([',', ';', '\t', '|'], 'null for NDJSON'),
  ),
  columns: schema.field<readonly string[]>({ type: [String] }, 'As sent, in their order'),
});

const summary = {
  id: schema.uuid(),
  name: schema.nullable(schema.text()),
  status: schema.oneOf(CAMPAIGN_STATUSES),
  dryRun: schema.flag('Whether the file was only checked; then `status` is `checked`'),
  invite: schema.flag('Whether the owners of registered grid locations are invited'),
  format: schema.view(CampaignFormatView, 'What was detected in the file'),
  rows: schema.count('Rows of the file, without its header'),
  createdAt: schema.instant(),
  finishedAt: schema.nullable(schema.instant('When every row had a result')),
};

export const CampaignSummaryView = schema.schemaOf('CampaignSummaryView', summary);
export type CampaignSummaryView = InstanceType<typeof CampaignSummaryView>;
