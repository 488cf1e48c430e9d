import { MAX_BRAND_LENGTH, normaliseBrand, brandFault } from '../platform/spelling.rules.js';
import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { Field } from '../platform/http/field.js';
import { ChoiceParameter } from '../platform/http/parameters.js';
import { ReadText } from '../platform/http/validation.js';
import { readInstant } from '../platform/time/instant.rules.js';
import { MetadataField } from '../users/metadata.dto.js';
import { isPlainObject, type Metadata } from '../users/metadata.rules.js';
import { ReferenceOfCustomer } from '../users/tenant-reference.dto.js';
import { LOCALES, type Locale } from '../platform/env/locale.rules.js';
import { CHANNELS, MAX_INVERTERS, type Channel } from './invitation.rules.js';

const MAX_BRANDS = 10;
const MAX_URL_LENGTH = 2_000;
const MESSAGE_STATUSES = ['sent', 'bounced'] as const;

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

const urlFault = (value: unknown) =>
  typeof value === 'string' && value.length <= MAX_URL_LENGTH && URL.canParse(value)
    ? undefined
    : `must be a URL of at most ${MAX_URL_LENGTH} characters`;

const Brands = (description: string) =>
  applyDecorators(
    Transform(({ value }: { value: unknown }) => normaliseBrands(value)),
    Field({ type: [String], maxItems: MAX_BRANDS, description, faultOf: brandsFault }),
  );

const Expected = () =>
  Field({
    type: 'object',
    properties: { inverters: { type: 'integer', minimum: 1, maximum: MAX_INVERTERS } },
    additionalProperties: false,
    description: 'What you expect to come online',
    faultOf: expectedFault,
  });

const RETURN_URL = {
  type: String,
  format: 'uri',
  description: 'Where the page leads once all is done: https, of an origin in `INVITATION_RETURN_ORIGINS`',
  faultOf: urlFault,
} as const;

const InstantField = (description: string) =>
  applyDecorators(ReadText(readInstant), Field({ type: String, format: 'date-time', description }));

export class NewInvitation {
  @Field({ format: 'uuid', description: 'Required unless `tenantReference` is given' })
  gridLocationId?: string;

  @ReferenceOfCustomer('In place of `gridLocationId`, for a user with one grid location')
  tenantReference?: string;

  @Brands(
    `The brands to connect, each of at most ${MAX_BRAND_LENGTH} characters. Default: the remote service asks for the brand`,
  )
  brands?: string[];

  @ChoiceParameter(LOCALES, "The language of the owner's page. Default: the language of the browser")
  locale?: Locale;

  @Expected()
  expected?: { inverters?: number };

  @MetadataField({
    description:
      'Your own data, returned unchanged in responses and events. The page shows a text `label` as the name of the place. No personal data',
  })
  metadata?: Metadata;

  @Field(RETURN_URL)
  returnUrl?: string;

  @InstantField('In the future, at most 366 days. Default: `INVITATION_TTL_DAYS` from now')
  expiresAt?: Date;
}

export class InvitationChange {
  @InstantField('In the future, at most 366 days. An invitation that has expired is valid again')
  expiresAt?: Date;

  @Field({ enum: LOCALES, nullable: true, description: 'null: the language of the browser' })
  locale?: Locale | null;

  @Brands('The brands to connect, in place of those before. Empty: the remote service asks for the brand')
  brands?: string[];

  @Field({ ...RETURN_URL, nullable: true })
  returnUrl?: string | null;

  @Expected()
  expected?: { inverters?: number };
}

export class InvitationMessage {
  @Field({ required: true, enum: MESSAGE_STATUSES, description: 'bounced: it has come back' })
  status: (typeof MESSAGE_STATUSES)[number];

  @Field({ required: true, enum: CHANNELS, description: 'How it was sent' })
  channel: Channel;

  @InstantField('When that was. Default, and at the latest: now')
  at?: Date;
}
