import { SetMetadata, type CustomDecorator } from '@nestjs/common';

export const PUBLIC = 'pv-onboarding:public';

/** Marks a route that needs no API key. The boot fails if a route has neither this nor a scope. */
export const Public = (): CustomDecorator => SetMetadata(PUBLIC, true);
