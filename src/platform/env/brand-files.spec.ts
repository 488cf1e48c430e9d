import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { useFolder } from '../../../test/setup/folder.js';
import { brandFileProblems, readInverterBrands } from './brand-files.js';

const folder = useFolder();

async function write(name: string, content: unknown): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

describe("the files of the tenant's words and brands", () => {
  it.each([
    [{ version: 'x'.repeat(60), nl: { why: 'x'.repeat(1_000) } }, undefined],
    [{ version: 'x'.repeat(61) }, 'version must be text of 1 to 60 characters'],
    [{ nl: {} }, 'version must be text of 1 to 60 characters'],
    [{ version: '1', es: {} }, 'es is not known: the languages are en, nl, de, fr'],
    [
      { version: '1', nl: { whi: 'x' } },
      'nl.whi is not known: the fields are why, benefit, read, limit, password, withdraw, consent',
    ],
    [{ version: '1', nl: { why: ' ' } }, 'nl.why must be text of 1 to 1000 characters'],
    [{ version: '1', nl: { why: 'x'.repeat(1_001) } }, 'nl.why must be text of 1 to 1000 characters'],
    ['\ufeff{"version":"1"}\r\n', undefined],
    [[], 'must be a JSON object'],
    ['{', 'is not JSON: '],
    [`{"version":"${'x'.repeat(262_144)}"}`, 'must have at most 256 kB'],
  ])('texts %#: %j', async (content, problem) => {
    const path = await write('texts.json', content);
    const problems = [...brandFileProblems({ BRAND_TEXTS_FILE: path })];
    if (problem === undefined) expect(problems).toEqual([]);
    else expect(problems).toEqual([expect.stringContaining(`BRAND_TEXTS_FILE: ${problem}`)]);
  });

  it.each([
    [{ name: 'x'.repeat(60), nl: { traps: 'x'.repeat(1_000), helpUrl: 'http://a' } }, undefined],
    [{ name: 'x'.repeat(61) }, 'name must be text of 1 to 60 characters'],
    [{ name: 'A', nl: 7 }, 'nl must be an object'],
    [{ name: 'A', nl: { traps: 'x'.repeat(1_001) } }, 'nl.traps must be text of 1 to 1000 characters'],
    [{ name: 'A', nl: { helpUrl: `https://${'x'.repeat(993)}` } }, 'nl.helpUrl must be a URL'],
    [{ name: 'A', picture: 7 }, 'picture must be text'],
    [{ name: 'A', picture: 'a.gif' }, 'picture must be a .svg, .png or .webp file'],
    [{ name: 'A', picture: 'full.PNG' }, undefined],
    [{ name: 'A', picture: 'large.png' }, 'picture must have at most 100 kB'],
  ])('brands %#: %j', async (acme, problem) => {
    await write('full.PNG', 'x'.repeat(102_400));
    await write('large.png', 'x'.repeat(102_401));
    const problems = readInverterBrands(await write('brands.json', { acme })).problems;
    expect(problems).toEqual(
      problem === undefined ? [] : [expect.stringMatching(`^acme.${problem.replaceAll('.', '[.]')}`)],
    );
  });

  it('have at most 500 brands, and a logo of at most 1 MB', async () => {
    const brands = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, nth) => [nth, { name: 'A' }]));
    const problemsOf = async (count: number) =>
      readInverterBrands(await write('brands.json', brands(count))).problems;
    expect([await problemsOf(500), await problemsOf(501)]).toEqual([[], ['must have at most 500 brands']]);
    const logo = async (bytes: number) => [
      ...brandFileProblems({ BRAND_LOGO_FILE: await write('logo.svg', 'x'.repeat(bytes)) }),
    ];
    expect(await logo(1_048_576)).toEqual([]);
    expect(await logo(1_048_577)).toEqual(['BRAND_LOGO_FILE must have at most 1024 kB']);
  });

  it('name every problem of every file in one message each', async () => {
    const BRAND_TEXTS_FILE = await write('both.json', { nl: { why: 1 } });
    const INVERTER_BRANDS_FILE = await write('brands.json', {
      acme: { name: '', nl: { helpUrl: 'javascript:alert(1)' }, picture: 'none.svg' },
      other: 7,
    });
    const BRAND_LOGO_FILE = join(folder, 'missing.svg');
    expect([...brandFileProblems({ BRAND_TEXTS_FILE, INVERTER_BRANDS_FILE, BRAND_LOGO_FILE })]).toEqual([
      'BRAND_TEXTS_FILE: version must be text of 1 to 60 characters; nl.why must be text of 1 to 1000 characters',
      'INVERTER_BRANDS_FILE: acme.name must be text of 1 to 60 characters; acme.nl.helpUrl must be a URL that begins with http:// or https://; acme.picture cannot be read (ENOENT); other must be an object',
      'BRAND_LOGO_FILE cannot be read (ENOENT)',
    ]);
    expect([...brandFileProblems({ BRAND_TEXTS_FILE: join(folder, 'none.json') })]).toEqual([
      'BRAND_TEXTS_FILE: cannot be read (ENOENT)',
    ]);
  });

  it('have the pictures that they name', async () => {
    await write('acme.svg', '<svg/>');
    const path = await write('brands.json', {
      acme: { name: 'Acme', picture: 'acme.svg', nl: { login: 'U.' } },
    });
    expect(readInverterBrands(path).value?.get('acme')).toEqual({
      name: 'Acme',
      nl: { login: 'U.' },
      picture: { type: 'image/svg+xml', content: Buffer.from('<svg/>') },
    });
  });
});
