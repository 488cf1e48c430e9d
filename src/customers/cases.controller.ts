import { Controller, Get, Param } from '@nestjs/common';
import { ApiExtraModels, ApiOkResponse, ApiTags, getSchemaPath } from '@nestjs/swagger';
import { CurrentKey, Operation } from '../access/operation.decorator.js';
import { hasScope, type Principal } from '../access/scopes.js';
import { pageSchemaOf, type Page } from '../platform/http/page.js';
import { OptionalText, ParseUuid } from '../platform/http/parameters.js';
import { invalidRequest } from '../platform/http/validation.js';
import { ApiProblems } from '../platform/openapi/api-problems.decorator.js';
import { found } from '../platform/problem/problem.js';
import { EAN_PATTERN, eanFault } from '../users/ean.rules.js';
import { ReferenceOfCustomer } from '../users/tenant-reference.dto.js';
import { CaseView, CustomersView, ListedCustomerView } from './case.view.js';
import { CasesService, MOST_CUSTOMERS } from './cases.service.js';
import { CUSTOMERS } from './customers.list.js';
import { Query } from '../platform/http/query.decorator.js';

class CustomersQuery extends CUSTOMERS.Query {
  @ReferenceOfCustomer('The customer with this reference, in the place of a list')
  tenantReference?: string;

  @OptionalText(eanFault, {
    pattern: EAN_PATTERN,
    description: 'The customers with this EAN, in the place of a list',
  })
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
    summary: 'List customers, or read the cases of one by reference or EAN',
    columns: {
      REFERENCE: 'tenantReference:24',
      'WAITS FOR': 'waitsFor',
      SINCE: 'since',
      CAUSE: 'stalled.cause',
      BRANDS: 'brands:16',
    },
    description:
      'Without `tenantReference` and `ean`: a page of customers, the newest first, with who is waited for at each. A registration ' +
      'without a user is a customer as well. With one of them, for a colleague on the telephone: the customers with their cases, ordered by ' +
      `reference. Several customers may have one EAN: returns at most ${MOST_CUSTOMERS}. \`not_found\` if there is none, or if the user ` +
      'is erased.',
  })
  @ApiExtraModels(CustomersView, ListedCustomerView)
  @ApiOkResponse({
    description: 'A page of the list. With `tenantReference` or `ean`: the customers',
    schema: { oneOf: [pageSchemaOf(ListedCustomerView), { $ref: getSchemaPath(CustomersView) }] },
  })
  @ApiProblems('not_found')
  async readCustomers(@Query() query: CustomersQuery): Promise<CustomersView | Page<ListedCustomerView>> {
    const { tenantReference, ean, limit: _, ...filters } = query;
    if (tenantReference === undefined && ean === undefined) return this.cases.listCustomers(query);
    if (tenantReference !== undefined && ean !== undefined)
      throw invalidRequest([{ field: 'tenantReference', message: 'and `ean` must not both be given' }]);
    const given = Object.entries(filters).filter(([, value]) => value !== undefined);
    if (given.length > 0)
      throw invalidRequest(
        given.map(([field]) => ({ field, message: 'is for the list, without `tenantReference` and `ean`' })),
      );
    const by = ean === undefined ? { tenantReference: tenantReference! } : { ean };
    const items = await this.cases.findCustomers(by);
    // The problem repeats neither the reference nor the EAN.
    return { items: found(items.length > 0 ? items : null, `customer with this ${Object.keys(by)[0]}`) };
  }
}
