import { MAX_BRAND_LENGTH, normaliseBrand } from '../platform/spelling.rules.js';
import { Transform } from 'class-transformer';
import { Field } from '../platform/http/field.js';
import { ChoiceParameter } from '../platform/http/parameters.js';
import { parseInstant } from '../platform/time/instant.rules.js';
import { MetadataField } from '../users/metadata.dto.js';
import { isPlainObject, type Metadata } from '../users/metadata.rules.js';
import { ReferenceOfCustomer } from '../users/tenant-reference.dto.js';
import { brandFault } from '../onboarding/rules/brand.rules.js';
import { LOCALES, MAX_INVERTERS, type Locale } from './invitation.rules.js';

const MAX_BRANDS = 10;
const MAX_URL_LENGTH = 2_000;

function brandsFault(value: unknown): string | undefined {
  if (!Array.isArray(value) || value.length > MAX_BRANDS)
    return `must be an array of at most ${MAX_BRANDS} brands`;
  const fault = value.map(brandFault).find((each) => each !== undefined);
  if (fault !== undefined) return `must contain only brands: each ${fault}`;
  return new Set(value).size < value.length ? 'must contain each brand once' : undefined;
}

const normaliseBrands = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map((each: unknown) => (typeof each === 'string' ? normaliseBrand(each) : each))
    : value;

function expectedFault(value: unknown): string | undefined {
  if (!isPlainObject(value) || Object.keys(value).some((key) => key !== 'inverters'))
    return 'must be an object with `inverters`';
  const { inverters } = value;
  const fits = Number.isInteger(inverters) && Number(inverters) >= 1 && Number(inverters) <= MAX_INVERTERS;
  return inverters === undefined || fits ? undefined : `must have \`inverters\` from 1 to ${MAX_INVERTERS}`;
}

const isInstant = (value: unknown) =>
  parseInstant(value).kind === 'instant' ? undefined : 'must be an RFC 3339 timestamp with Z or an offset';

const urlFault = (value: unknown) =>
  typeof value === 'string' && value.length <= MAX_URL_LENGTH && URL.canParse(value)
    ? undefined
    : `must be a URL of at most ${MAX_URL_LENGTH} characters`;

export class NewInvitation {
  @Field({ format: 'uuid', description: 'Required unless `tenantReference` is given' })
  gridLocationId?: string;

  @ReferenceOfCustomer('In place of `gridLocationId`, for a user with one grid location')
  tenantReference?: string;

  @Transform(({ value }: { value: unknown }) => normaliseBrands(value))
  @Field({
    type: [String],
    maxItems: MAX_BRANDS,
    description: `The brands to connect, each of at most ${MAX_BRAND_LENGTH} characters. Default: the remote service asks for the brand`,
    faultOf: brandsFault,
  })
  brands?: string[];

  @ChoiceParameter(LOCALES, "The language of the owner's page. Default: the language of the browser")
  locale?: Locale;

  @Field({
    type: 'object',
    properties: { inverters: { type: 'integer', minimum: 1, maximum: MAX_INVERTERS } },
    additionalProperties: false,
    description: 'What you expect to come online',
    faultOf: expectedFault,
  })
  expected?: { inverters?: number };

  @MetadataField({
    description:
      'Your own data, returned unchanged in responses and events. The page shows a text `label` as the name of the place. No personal data',
  })
  metadata?: Metadata;

  @Field({
    type: String,
    format: 'uri',
    description: 'Where the page leads once all is done: https, of an origin in `INVITATION_RETURN_ORIGINS`',
    faultOf: urlFault,
  })
  returnUrl?: string;

  @Field({
    type: String,
    format: 'date-time',
    description: 'In the future, at most 366 days. Default: `INVITATION_TTL_DAYS` from now',
    faultOf: isInstant,
  })
  expiresAt?: string;
}
