import { expect, it } from '@jest/globals';
import { blockOf, readPage } from '../docs/readme.js';

it('the README of the client quotes its examples', async () => {
  const readme = await readPage('clients/typescript/README.md');
  for (const name of ['onboard', 'receiver']) {
    const example = await readPage(`clients/typescript/examples/${name}.ts`);
    expect(`${blockOf(readme, `examples/${name}.ts`)}\n`).toBe(example);
  }
});
