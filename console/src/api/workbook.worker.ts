import { readWorkbook, WorkbookError } from '../../../src/spreadsheet/workbook.js';
import type { Sheet } from '../../../src/spreadsheet/sheet.rules.js';

export type Answer = { readonly sheets: readonly Sheet[] } | { readonly fault: string | null };

addEventListener('message', ({ data }: MessageEvent<ArrayBuffer>) => {
  void readWorkbook(new Uint8Array(data))
    .then(
      (sheets): Answer => ({ sheets }),
      (error: unknown): Answer => ({
        fault: error instanceof WorkbookError ? error.message : null,
      }),
    )
    .then((answer) => postMessage(answer));
});
