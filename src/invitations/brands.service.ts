import { Injectable } from '@nestjs/common';
import { readInverterBrands, type InverterBrand } from '../platform/env/brand-files.js';
import { Environment } from '../platform/env/environment.js';

/** How people call the brands of inverters, and what an owner needs to connect one: INVERTER_BRANDS_FILE. */
@Injectable()
export class Brands {
  readonly all: ReadonlyMap<string, InverterBrand>;

  constructor({ INVERTER_BRANDS_FILE: path }: Environment) {
    this.all = (path === undefined ? null : readInverterBrands(path).value) ?? new Map();
  }

  /** Returns the name of a brand. Default: its id. */
  nameOf(id: string): string {
    return this.all.get(id)?.name ?? id;
  }
}
