import { type DynamicModule, Module } from '@nestjs/common';
import { AccessModule } from './access/access.module.js';
import { Environment } from './platform/env/environment.js';
import { PlatformModule } from './platform/platform.module.js';

/** The import list is the architecture; who may use whom stands in .dependency-cruiser.mjs. */
@Module({})
export class AppModule {
  static forRoot(environment: Environment): DynamicModule {
    return {
      module: AppModule,
      imports: [PlatformModule.forRoot(environment), AccessModule],
    };
  }
}
