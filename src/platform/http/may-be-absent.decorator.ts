import { ValidateIf } from 'class-validator';

/** A property that may be left out. Unlike IsOptional it takes no null, where null could only be a slip. */
export const MayBeAbsent = (): PropertyDecorator => ValidateIf((_object, value) => value !== undefined);
