import { describe, expect, it } from '@jest/globals';
import { EVENT_NAMES } from '../../src/events/catalogue.rules.js';
import { readPage as read } from './readme.js';

describe('docs/handlers.md', () => {
  it('quotes the example that is compiled with the code', async () => {
    const quoted = /<!-- test\/docs\/handlers\.example\.ts -->\s+```ts\n(.*?)```/s.exec(
      await read('docs/handlers.md'),
    )?.[1];
    // On the page, the example is a file in src, so its imports begin with `./`.
    const example = (await read('test/docs/handlers.example.ts')).replaceAll('../../src/', './');
    expect(quoted).toBe(example);
  });
});

describe('docs/events.md', () => {
  it('lists every event in its catalogue, and no other', async () => {
    const listed = [...(await read('docs/events.md')).matchAll(/^\| `([a-z_]+\.[a-z_]+)` +\|/gm)].map(
      ([, name]) => name,
    );
    expect(listed).toEqual(EVENT_NAMES);
  });
});
