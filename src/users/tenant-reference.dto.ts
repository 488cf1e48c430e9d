import { normaliseReference } from '../platform/spelling.rules.js';
import { applyDecorators } from '@nestjs/common';
import { OptionalText } from '../platform/http/parameters.js';
import { ReadText } from '../platform/http/validation.js';
import { tenantReferenceFault } from './tenant-reference.rules.js';

/** Declares an optional reference of an existing customer, which is read as `POST /users` reads that of a new one. */
export const ReferenceOfCustomer = (description?: string): PropertyDecorator =>
  applyDecorators(
    ReadText(normaliseReference),
    OptionalText(tenantReferenceFault, { ...(description !== undefined && { description }) }),
  );
