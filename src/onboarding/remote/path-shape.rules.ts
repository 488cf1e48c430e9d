/**
 * The two path shapes of reading a session (interface section 4.4). The interface gives no rule for choosing, so with
 * SCS_SESSION_PATH=auto the shape that answers is remembered.
 */
export type PathShape = 'onboarding' | 'user';

/** The shapes to try, in order: the one that worked last comes first, and a 404 of one says nothing before the other is asked. */
export function planShapes(configured: PathShape | 'auto', worked: PathShape | null): readonly PathShape[] {
  if (configured !== 'auto') return [configured];
  return worked === 'user' ? ['user', 'onboarding'] : ['onboarding', 'user'];
}
