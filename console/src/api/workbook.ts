import type { Sheet } from '../../../src/spreadsheet/sheet.rules.js';
import { texts } from '../texts.js';
import type { Answer } from './workbook.worker.js';

const LONGEST_MS = 60_000;

/** Reads a workbook in a worker, which loads the library for it, so that no file stops the page. Throws Error with what is wrong, in words. */
export async function readWorkbook(bytes: ArrayBuffer): Promise<readonly Sheet[]> {
  const worker = new Worker(new URL('./workbook.worker.ts', import.meta.url), { type: 'module' });
  try {
    const answer = await new Promise<Answer>((resolve) => {
      const fail = (fault: string | null) => resolve({ fault });
      setTimeout(fail, LONGEST_MS, texts.import.workbookTooSlow);
      worker.addEventListener('error', () => fail(null));
      worker.addEventListener('message', ({ data }: MessageEvent<Answer>) => resolve(data));
      worker.postMessage(bytes, [bytes]);
    });
    if ('fault' in answer) throw new Error(answer.fault ?? texts.import.workbookUnreadable);
    return answer.sheets;
  } finally {
    worker.terminate();
  }
}
