import { Injectable, type OnModuleInit, type Type } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { PUBLIC } from '../platform/http/public.decorator.js';
import { REQUIRED_SCOPE } from './require-scope.decorator.js';

/** Refuses to start if a route neither declares a scope nor is public. */
@Injectable()
export class RouteAccess implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
  ) {}

  onModuleInit(): void {
    const undecided = this.discovery
      .getControllers()
      .flatMap(({ metatype }) => this.undecidedRoutes(metatype as Type | null));
    if (undecided.length > 0) {
      throw new Error(`these routes need @RequireScope() or @Public(): ${undecided.join(', ')}`);
    }
  }

  private undecidedRoutes(controller: Type | null): string[] {
    if (controller === null) return [];
    const prototype = controller.prototype as Record<string, object>;
    return this.scanner
      .getAllMethodNames(prototype)
      .filter((name) => {
        const has = (key: string) => Reflect.hasMetadata(key, prototype[name]!);
        return has(METHOD_METADATA) && !has(REQUIRED_SCOPE) && !has(PUBLIC);
      })
      .map((name) => `${controller.name}.${name}`);
  }
}
