import { ValidateIf } from 'class-validator';

/** Makes a property optional. Unlike IsOptional it refuses null, for properties where null could only be a mistake. */
export const MayBeAbsent = (): PropertyDecorator => ValidateIf((_object, value) => value !== undefined);
