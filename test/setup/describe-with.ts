import { describe, it } from '@jest/globals';

/** As `describe`, for tests that need a program. If it is null, prints that they did not run, and declares a test whose title says so. */
export function describeWith<Program>(
  program: Program | null,
  missing: string,
  title: string,
  tests: (program: Program) => void,
): void {
  if (program !== null) return describe(title, () => tests(program));
  const notice = `NOT TESTED: ${title}. There is no ${missing} here`;
  console.warn(notice);
  it(notice, () => {});
}
