/**
 * The two path shapes for reading a session (interface section 4.4). The interface gives no rule for choosing, so with
 * SCS_SESSION_PATH=auto the shape that worked is remembered.
 */
export type PathShape = 'onboarding' | 'user';

/** Returns the shapes to try, in order. The one that worked last comes first. A 404 for one says nothing until the other has been tried. */
export function planShapes(configured: PathShape | 'auto', worked: PathShape | null): readonly PathShape[] {
  if (configured !== 'auto') return [configured];
  return worked === 'user' ? ['user', 'onboarding'] : ['onboarding', 'user'];
}
