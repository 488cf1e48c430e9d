import * as schema from '../platform/openapi/schema-of.js';
import { ENCODINGS } from '../spreadsheet/encoding.rules.js';
import {
  CAMPAIGN_STATUSES,
  DELIMITERS,
  ROW_PROBLEMS,
  ROW_STATUSES,
  type CampaignFormat,
  type RowProblemCode,
} from './campaign.rules.js';

class CampaignFormatView extends schema.schemaOf({
  type: schema.oneOf<CampaignFormat['type']>(['csv', 'ndjson']),
  encoding: schema.oneOf(ENCODINGS),
  bom: schema.flag('Whether the file begins with a byte order mark'),
  delimiter: schema.nullable(schema.oneOf(DELIMITERS, 'null for NDJSON')),
  columns: schema.texts('As sent, in their order'),
}) {}

const summary = {
  id: schema.uuid(),
  name: schema.nullable(schema.text()),
  status: schema.oneOf(CAMPAIGN_STATUSES),
  dryRun: schema.flag('Whether the file was only checked; then `status` is `checked`'),
  invite: schema.flag('Whether the owners of registered grid locations are invited'),
  adopt: schema.flag('Whether the rows exist at the remote service, and nobody is registered'),
  format: schema.view(CampaignFormatView, 'What was detected in the file'),
  rows: schema.count('Rows of the file, without its header'),
  createdAt: schema.instant(),
  finishedAt: schema.nullable(schema.instant('When every row had a result')),
};

export class CampaignSummaryView extends schema.resourceOf('campaign', summary) {}

const numbers = <Name extends string>(names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, schema.count()])) as Record<Name, schema.Field<number>>;

class RowCountsView extends schema.schemaOf(numbers(ROW_STATUSES)) {}

class RowSummaryView extends schema.schemaOf({
  new: schema.count('To be registered, or sent already, whatever the result'),
  known: schema.count('Registered already with the same EANs, as far as that is known'),
  conflicts: schema.count('Contradict what is registered already'),
  invalid: schema.count('Have another problem'),
  duplicates: schema.count('Repeat an earlier row of the file'),
}) {}

class BrandCountView extends schema.schemaOf({ brand: schema.text(), rows: schema.count() }) {}

export class CampaignView extends schema.resourceOf('campaign', {
  ...summary,
  summary: schema.view(RowSummaryView, 'The rows by the result of the check; each row is counted once'),
  counts: schema.view(RowCountsView, 'The number of rows in each status'),
  problems: schema.field<Readonly<Partial<Record<RowProblemCode, number>>>>(
    { type: 'object', additionalProperties: { type: 'integer' } },
    'The number of rows with each problem, by its code; warnings too',
  ),
  brands: schema.listOf(
    BrandCountView,
    'The rows of each brand in a dry run, the most frequent first, at most 50 brands; else empty',
  ),
  perSecond: schema.nullable(
    schema.number(
      'Rows that got a result per second, in the last seconds; null if not known, or no worker runs the campaign',
    ),
  ),
  remainingSeconds: schema.nullable(
    schema.count(
      'How long it will take, with the budget of the remote service and everything that goes first; null if not known',
    ),
  ),
}) {}

class RowProblemView extends schema.schemaOf({
  column: schema.nullable(schema.text('The column as it is named in the file; null: the whole row')),
  code: schema.oneOf(ROW_PROBLEMS),
  message: schema.text('For the person with the spreadsheet'),
}) {}

export class CampaignRowView extends schema.resourceOf('campaign_row', {
  line: schema.count('The line of the file on which the row begins, from 1'),
  status: schema.oneOf(ROW_STATUSES),
  tenantReference: schema.nullable(schema.text('null if it is missing or faulty')),
  ean: schema.nullable(schema.text('null if it is missing or faulty')),
  problems: schema.listOf(RowProblemView, 'What is wrong or, if the row is not `invalid`, doubtful'),
  registrationId: schema.nullable(schema.uuid('The registration that the row is part of')),
  userId: schema.nullable(schema.uuid()),
  invitationUrl: schema.field<string | null>(
    { type: String, nullable: true, ...schema.SECRET },
    'The link for the owner; null without the scope `links:read`, or if there is none',
  ),
}) {}
