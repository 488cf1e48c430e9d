import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Operation } from '../access/operation.decorator.js';
import * as schema from '../platform/openapi/schema-of.js';
import { Database } from '../platform/database/database.js';
import { listBrands } from '../brands/brands.store.js';
import { Brands } from './brands.service.js';

class BrandView extends schema.resourceOf('brand', {
  id: schema.text('As sessions, invitations and filters have it'),
  name: schema.text('As people know it'),
}) {}

class BrandsPage extends schema.schemaOf({ items: schema.listOf(BrandView) }) {}

@ApiTags('Invitations')
@Controller('brands')
export class BrandsController {
  constructor(
    private readonly brands: Brands,
    private readonly database: Database,
  ) {}

  @Get()
  @Operation([], {
    command: 'brands',
    anyScope: ['onboarding:read', 'users:read', 'invitations:write'],
    summary: 'List the brands of inverters with their names',
    description:
      'Those of INVERTER_BRANDS_FILE, in its order, then at most 100 others that sessions have. The name of such a brand is its id.',
  })
  @ApiOkResponse({ type: BrandsPage })
  async listBrands() {
    const ids = new Set([...this.brands.all.keys(), ...(await listBrands(this.database))]);
    return { items: [...ids].map((id) => BrandView.of({ id, name: this.brands.nameOf(id) })) };
  }
}
