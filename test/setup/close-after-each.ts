import { afterEach } from '@jest/globals';

/** Returns a list. Functions that a test pushes to it are called after the test, in reverse order. */
export function closeAfterEach(): (() => unknown)[] {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  return closing;
}
