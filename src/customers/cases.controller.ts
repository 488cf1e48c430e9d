import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { CurrentKey, Operation } from '../access/operation.decorator.js';
import { hasScope, type Principal } from '../access/scopes.js';
import { OptionalText, ParseUuid } from '../platform/http/parameters.js';
import { invalidRequest } from '../platform/http/validation.js';
import { ApiProblems } from '../platform/openapi/api-problems.decorator.js';
import { found } from '../platform/problem/problem.js';
import { EAN_PATTERN, eanFault } from '../users/ean.rules.js';
import { ReferenceOfCustomer } from '../users/tenant-reference.dto.js';
import { CaseView, CustomersView } from './case.view.js';
import { CasesService, MOST_CUSTOMERS } from './cases.service.js';
import { Query } from '../platform/http/query.decorator.js';

class CustomersQuery {
  @ReferenceOfCustomer('Required unless `ean` is given')
  tenantReference?: string;

  @OptionalText(eanFault, { pattern: EAN_PATTERN, description: 'Required unless `tenantReference` is given' })
  ean?: string;
}

@ApiTags('Customers')
@Controller()
export class CasesController {
  constructor(private readonly cases: CasesService) {}

  @Get('grid-locations/:id/case')
  @Operation('onboarding:read', {
    summary: 'Read the case of a grid location',
    description:
      'What is expected, online and missing, what there was so far, and what it waits for. Without any link. That of an erased user is `not_found`.',
  })
  @ApiOkResponse({ type: CaseView })
  async readCase(@Param('id', ParseUuid) id: string, @CurrentKey() key: Principal): Promise<CaseView> {
    const view = found(await this.cases.findCase(id), `grid location ${id}`);
    return hasScope(key, 'users:read') ? view : { ...view, ean: null };
  }

  @Get('customers')
  @Operation(['users:read', 'onboarding:read'], {
    summary: 'Read the cases of a customer, by reference or EAN',
    description:
      `For a colleague on the telephone. Several customers may have one EAN: returns at most ${MOST_CUSTOMERS}, ` +
      'ordered by reference. A registration without a user is a customer as well. `not_found` if there is none, or if the user is erased.',
  })
  @ApiOkResponse({ type: CustomersView })
  @ApiProblems('not_found')
  async readCustomers(@Query() { tenantReference, ean }: CustomersQuery): Promise<CustomersView> {
    if ((tenantReference === undefined) === (ean === undefined))
      throw invalidRequest([{ field: 'tenantReference', message: 'or `ean` must be given, and not both' }]);
    const by = ean === undefined ? { tenantReference: tenantReference! } : { ean };
    const items = await this.cases.findCustomers(by);
    // The problem repeats neither the reference nor the EAN.
    return { items: found(items.length > 0 ? items : null, `customer with this ${Object.keys(by)[0]}`) };
  }
}
