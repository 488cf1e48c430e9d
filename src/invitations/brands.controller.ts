import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Operation } from '../access/operation.decorator.js';
import * as schema from '../platform/openapi/schema-of.js';
import { Brands } from './brands.service.js';

class BrandView extends schema.schemaOf({
  id: schema.text('As sessions, invitations and filters have it'),
  name: schema.text('As people know it'),
}) {}

class BrandsPage extends schema.schemaOf({ items: schema.listOf(BrandView) }) {}

@ApiTags('Invitations')
@Controller('brands')
export class BrandsController {
  constructor(private readonly brands: Brands) {}

  @Get()
  @Operation([], {
    command: 'brands',
    anyScope: ['onboarding:read', 'users:read', 'invitations:write'],
    summary: 'List the brands of inverters with their names',
    description:
      'Those of INVERTER_BRANDS_FILE, in its order; none without the file. The name of any other brand is its id.',
  })
  @ApiOkResponse({ type: BrandsPage })
  listBrands() {
    return { items: [...this.brands.all].map(([id, { name }]) => ({ id, name })) };
  }
}
