import { ValidateBy } from 'class-validator';

/** Checks a property with a pure function that returns what is wrong with a value, or undefined if nothing is. */
export function CheckedBy(faultOf: (value: unknown) => string | undefined): PropertyDecorator {
  return ValidateBy({
    name: faultOf.name,
    validator: {
      validate: (value) => faultOf(value) === undefined,
      defaultMessage: (args) => faultOf(args?.value) ?? '',
    },
  });
}
