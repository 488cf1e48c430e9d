import { useQuery } from '@tanstack/react-query';
import { useMay } from '../parts/may.js';
import type { Filter } from '../parts/list.js';
import { brandNamesOf, type BrandNames } from '../rules/brands.js';
import { texts } from '../texts.js';
import { client } from './client.js';

const NONE = brandNamesOf([]);
const NOT_READ_YET = brandNamesOf([]);

/** Reads how people call the brands. They change only with a start of the service. */
export function useBrands(): BrandNames {
  const may = useMay();
  const brands = useQuery({
    queryKey: ['brands'],
    queryFn: async () => brandNamesOf((await client.GET('/api/v1/brands')).data.items),
    staleTime: Infinity,
    enabled: may('onboarding:read') || may('users:read') || may('invitations:write'),
  });
  return brands.data ?? (brands.isLoading ? NOT_READ_YET : NONE);
}

/** A filter by brand: a choice of names, or a text if no brand has a name. */
export const brandFilter = (brands: BrandNames, value: string | undefined): Filter => {
  const { all, nameOf } = brands;
  const shown = { name: 'brand', label: texts.titles.brand };
  if (all.length === 0 && brands !== NOT_READ_YET) return { ...shown, kind: 'text' };
  const isListed = value === undefined || all.some(([id]) => id === value);
  const others = isListed ? [] : [[value, nameOf(value)] as const];
  return { ...shown, kind: 'choice', options: [['', texts.values.any], ...all, ...others] };
};
