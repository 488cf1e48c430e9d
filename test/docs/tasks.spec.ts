import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { freePort } from '../../src/local/free-port.js';
import { useFolder } from '../setup/folder.js';
import { findProgram } from '../setup/receivers/programs.js';
import { useTestApp } from '../setup/test-app.js';
import { blockOf, readPage, ROOT } from './pages.js';

const python = findProgram('python3', 'PYTHON');

describe('the commands of the pages by task', () => {
  const service = useTestApp({ LOG_LEVEL: 'error' });
  const folder = useFolder();
  let port: number;
  beforeAll(async () => {
    port = await freePort();
  });

  /** Runs blocks of a page, after blocks of the first page, with the functions that that one defines. Returns the lines that they print. */
  async function run(
    page: string,
    names: readonly string[],
    before: readonly string[] = [],
  ): Promise<string[]> {
    const blocks = async (path: string, each: readonly string[]) => {
      const text = (await readPage(path)).replace(/^ {3}/gm, '');
      return each.map((name) => blockOf(text, `run: ${name}`));
    };
    const [setup, ...first] = await blocks('docs/tasks/onboard-a-customer.md', ['setup', ...before]);
    const steps = await blocks(page, names);
    const script = [
      setup,
      `PV_URL=${service.url}`,
      `PV_KEY=${service.adminKey}`,
      'set -e',
      ...first,
      ...steps,
    ]
      .join('\n')
      .replaceAll('8080', String(port))
      .replace('python3 examples/', `${python} ${ROOT.pathname}examples/`)
      // What a page starts in the background is awaited, and ends with the page.
      .replace(
        / &( +#.*)?$/m,
        ` 2> /dev/null &\ntrap "kill $!" EXIT\nuntil curl -s -o /dev/null http://127.0.0.1:${port}/; do sleep 0.1; done`,
      );
    const { stdout } = await promisify(execFile)('sh', ['-c', script], { cwd: folder });
    return stdout.trim().split('\n');
  }

  it('register a customer, start a session, and read its state and events', async () => {
    const printed = await run('docs/tasks/onboard-a-customer.md', ['register', 'start']);
    expect(printed).toEqual([expect.stringMatching(/^The owner opens http/)]);
    const { id } = JSON.parse(await readFile(join(folder, 'session.json'), 'utf8')) as { id: string };
    await fetch(`${service.sandbox!.url}/sandbox/sessions/${id}/complete`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ brand: 'sunward' }),
    });
    const read = await run('docs/tasks/onboard-a-customer.md', ['register', 'start', 'wait', 'events']);
    expect(read).toEqual([
      expect.stringContaining('The owner opens'),
      expect.stringMatching(/^(awaiting_owner|awaiting_installation|online)$/),
      expect.stringMatching(/^[01]$/),
    ]);
  }, 60_000);

  it('find the customer who calls, and say why', async () => {
    const [reference, why = ''] = await run(
      'docs/tasks/a-customer-calls.md',
      ['find', 'understand'],
      ['register'],
    );
    expect(reference).toBe('customer-1001');
    expect(why).toMatch(/\.$/);
  });

  it('check a file, import it, and give the links', async () => {
    const printed = await run('docs/tasks/onboard-500.md', ['file', 'check', 'import', 'follow', 'result']);
    expect(printed).toEqual(['0', '2']);
    const result = await readFile(join(folder, 'result.csv'), 'utf8');
    expect(result.match(/\/i\/[\w-]{43}/g)).toHaveLength(2);
  }, 60_000);

  it('invite the owner by the reference', async () => {
    const [printed = ''] = await run('docs/invitations.md', ['invite'], ['register']);
    expect(JSON.parse(printed)).toMatchObject({ object: 'invitation', tenantReference: 'customer-1001' });
  });

  const ofCrm = 'subscribe, receive, look up the EAN once, and test';
  if (python === null) {
    const reason = 'there is no python3 here (or PYTHON)';
    it(`${ofCrm}: NOT TESTED, ${reason}`, () => expect(python).toBeNull());
  } else {
    it(ofCrm, async () => {
      const page = 'docs/tasks/events-in-your-crm.md';
      const printed = await run(page, ['subscribe', 'look-up', 'test'], ['register']);
      expect(printed).toEqual([expect.stringMatching(/^8716859000000000\d\d$/), 'true']);
    });
  }
});
