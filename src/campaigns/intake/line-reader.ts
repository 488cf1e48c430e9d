import { Problem } from '../../platform/problem/problem.js';
import { characterFault, isBlank, type FileText } from './file-text.js';
import { MAX_ROW_CHARACTERS } from './row.rules.js';

export interface FileLine {
  readonly line: number;
  /** The line. Of a line that is too long, only its first MAX_ROW_CHARACTERS characters. */
  readonly text: string;
  readonly isTooLong: boolean;
}

/** Reads the lines of an NDJSON file, which may be given in any parts. Skips blank lines. */
export class LineReader {
  private line = 1;
  private text = '';
  private isTooLong = false;

  constructor(private readonly file: Pick<FileText, 'encoding'>) {}

  *read(part: string): Generator<FileLine> {
    const [unusable] = /[\0\ufffd]/.exec(part) ?? [];
    const lines = part.split('\n');
    for (const [index, text] of lines.entries()) {
      if (unusable !== undefined && text.includes(unusable)) {
        const column = this.text.length + text.indexOf(unusable) + 1;
        const message = characterFault(unusable, this.file);
        throw new Problem('campaign_unreadable', `Line ${this.line}, character ${column}: ${message}`);
      }
      this.append(text);
      if (index < lines.length - 1) yield* this.end();
    }
  }

  *end(): Generator<FileLine> {
    const { line, text, isTooLong } = this;
    this.line += 1;
    this.text = '';
    this.isTooLong = false;
    if (isTooLong || !isBlank(text)) yield { line, text, isTooLong };
  }

  private append(text: string): void {
    if (this.isTooLong) return;
    this.isTooLong = this.text.length + text.length > MAX_ROW_CHARACTERS;
    this.text += text.slice(0, MAX_ROW_CHARACTERS - this.text.length);
  }
}
