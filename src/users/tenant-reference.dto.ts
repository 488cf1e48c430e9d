import { normaliseReference } from '../platform/spelling.rules.js';
import { applyDecorators } from '@nestjs/common';
import { OptionalText } from '../platform/http/parameters.js';
import { ReadText } from '../platform/http/validation.js';
import { readStoredReference, tenantReferenceFault } from './tenant-reference.rules.js';

/** Declares an optional reference of an existing customer, for which a new one might be refused. */
export const ReferenceOfCustomer = (description?: string): PropertyDecorator =>
  applyDecorators(
    ReadText(normaliseReference),
    OptionalText(storedReferenceFault, { ...(description !== undefined && { description }) }),
  );

const storedReferenceFault = (value: unknown) => tenantReferenceFault(value, readStoredReference);
