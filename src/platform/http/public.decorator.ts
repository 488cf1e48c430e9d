import { SetMetadata, type CustomDecorator } from '@nestjs/common';

export const PUBLIC = 'pv-onboarding:public';

/** Marks a route that needs no API key. Every other route names its scope; a route that does neither is refused at boot. */
export const Public = (): CustomDecorator => SetMetadata(PUBLIC, true);
