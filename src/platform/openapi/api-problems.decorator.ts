import { PROBLEMS, type ProblemCode } from '../problem/problem.js';
import { count, field, listOf, oneOf, optional, schemaOf, text, uuid } from './schema-of.js';

/** The OpenAPI extension that lists the problem codes of an operation. */
export const PROBLEM_CODES = 'x-problem-codes';
/** The metadata key of @ApiExtension. ApiProblems writes it itself, since @ApiExtension ignores a second value for the same extension. */
const EXTENSIONS = 'swagger/apiExtension';

class FieldErrorView extends schemaOf({
  field: text('A path in the body such as `gridLocations[0].ean`, or the name of a parameter'),
  message: text('What the value must be'),
}) {}

/** The body of every error response, as application/problem+json (RFC 9457). */
export class ProblemView extends schemaOf({
  type: field<string>(
    { type: String, format: 'uri-reference' },
    'Address of the explanation of `code`; an absolute URL if `PUBLIC_URL` is set',
  ),
  title: text(),
  status: count(),
  detail: text('What happened this time, for people'),
  code: oneOf(Object.keys(PROBLEMS), 'The kind of problem. Does not change: handle problems by this'),
  registrationId: optional(uuid('The registration that the problem is about')),
  userId: optional(uuid('The user that the problem is about')),
  sessionId: optional(uuid('The session that the problem is about')),
  errors: optional(listOf(FieldErrorView, 'The invalid parts of the request')),
  requestId: text('The X-Request-Id of this response'),
}) {}

/** Documents the problems of a route that do not follow from its method and parameters. A method may have several of these decorators. */
export const ApiProblems =
  (...codes: readonly ProblemCode[]): MethodDecorator =>
  (_target, _key, { value: handler }) => {
    const extensions = (Reflect.getMetadata(EXTENSIONS, handler as object) ?? {}) as Record<string, unknown>;
    const declared = (extensions[PROBLEM_CODES] ?? []) as ProblemCode[];
    const all = [...new Set([...declared, ...codes])];
    Reflect.defineMetadata(EXTENSIONS, { ...extensions, [PROBLEM_CODES]: all }, handler as object);
  };
