import { Query as NestQuery } from '@nestjs/common';

const READS_QUERY = Symbol('whether the method reads its query');

/** Nest's `@Query`. Also marks the method, because Nest does not publish which methods have one. */
export const Query = (): ParameterDecorator => (controller, name, index) => {
  NestQuery()(controller, name, index);
  Reflect.defineMetadata(READS_QUERY, true, controller, name!);
};

/** Marks a method that passes the query on as it is. */
export const PassesQuery = (): MethodDecorator => (controller, name) =>
  Reflect.defineMetadata(READS_QUERY, true, controller, name);

export const readsQuery = (controller: object, method: string): boolean =>
  Reflect.hasMetadata(READS_QUERY, controller, method);
