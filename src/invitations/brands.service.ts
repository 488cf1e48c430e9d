import { Injectable } from '@nestjs/common';
import {
  readInverterBrands,
  readLogo,
  type InverterBrand,
  type Picture,
} from '../platform/env/brand-files.js';
import { Environment } from '../platform/env/environment.js';

/** How people call the brands of inverters, and what an owner needs to connect one (INVERTER_BRANDS_FILE); and the tenant's logo. */
@Injectable()
export class Brands {
  readonly all: ReadonlyMap<string, InverterBrand>;
  readonly logo: Picture | undefined;

  constructor({ INVERTER_BRANDS_FILE: path, BRAND_LOGO_FILE: logoPath }: Environment) {
    const logo = logoPath === undefined ? undefined : readLogo(logoPath);
    // A fault of the file has ended the start of the service.
    if (typeof logo === 'object') this.logo = logo;
    this.all = (path === undefined ? null : readInverterBrands(path).value) ?? new Map();
  }

  /** Returns the name of a brand. Default: its id. */
  nameOf(id: string): string {
    return this.all.get(id)?.name ?? id;
  }

  /** Returns these brands with their names, each once, by their ids. */
  namesOf(ids: readonly string[]): { id: string; name: string }[] {
    return [...new Set(ids)].sort().map((id) => ({ id, name: this.nameOf(id) }));
  }
}
