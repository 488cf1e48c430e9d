import { Problem } from '../../platform/problem/problem.js';
import { characterFault, isBlank, type FileText } from './file-text.js';
import { MAX_COLUMNS } from './headers.rules.js';
import { MAX_ROW_CHARACTERS, type FileRow } from './row.rules.js';

/**
 * The number of characters to which the cells of an overlong row are cut: enough for the longest reference and Excel's marks around it.
 */
const KEPT_OF_CELL = 500;

type State = 'start' | 'plain' | 'quoted' | 'closed';

/**
 * Reads rows from the text of a CSV file, which may be given in any parts. Skips rows without any text. Rejected: csv-parse. It stops
 * reading at a row beyond max_record_size. Without this limit, one quote that is never closed would keep the whole file in memory.
 */
export class CsvReader {
  /** The names of the columns, for messages. */
  columns: readonly string[] = [];
  private line = 1;
  private rowLine = 1;
  private cells: string[] = [];
  private cell = '';
  private characters = 0;
  private state: State = 'start';
  private quotedSince = 1;
  private isAfterCr = false;
  private readonly endOfPlain: RegExp;
  private readonly endOfQuoted: RegExp;

  constructor(
    private readonly delimiter: string,
    private readonly quote: string,
    private readonly file: Pick<FileText, 'encoding'>,
  ) {
    this.endOfPlain = new RegExp(`[${delimiter}\\r\\n\\0\\ufffd]`, 'g');
    this.endOfQuoted = new RegExp(`[${quote}\\r\\n\\0\\ufffd]`, 'g');
  }

  *read(text: string): Generator<FileRow> {
    for (let at = 0; at < text.length;) {
      if (text[at] === this.quote && (this.state === 'start' || this.state === 'closed')) {
        // After a closing quote, a second one is a quote in the cell.
        if (this.state === 'closed') this.append(this.quote);
        else this.quotedSince = this.line;
        this.state = 'quoted';
        this.isAfterCr = false;
        at += 1;
        continue;
      }
      const special = this.state === 'quoted' ? this.endOfQuoted : this.endOfPlain;
      special.lastIndex = at;
      const end = special.exec(text)?.index ?? text.length;
      if (end > at) this.appendText(text.slice(at, end));
      const character = text[end];
      if (character !== undefined) yield* this.take(character);
      at = end + 1;
    }
  }

  /** Returns the last row, if the file does not end with a line break. Throws Problem if a quote is still open. */
  *end(): Generator<FileRow> {
    if (this.state === 'quoted')
      throw this.fault('a quote begins a cell here, and none ends it', this.quotedSince);
    yield* this.endRow();
  }

  private *take(character: string): Generator<FileRow> {
    const followsCr = this.isAfterCr && character === '\n';
    this.isAfterCr = character === '\r';
    if (character === '\0' || character === '\ufffd') throw this.fault(characterFault(character, this.file));
    if (character === this.delimiter) return this.endCell();
    if (character === this.quote) {
      this.state = 'closed';
      return;
    }
    if (!followsCr) this.line += 1;
    if (this.state === 'quoted') this.append(character);
    else if (!followsCr) yield* this.endRow();
  }

  private appendText(text: string): void {
    this.isAfterCr = false;
    if (this.state === 'closed')
      throw this.fault(
        `text follows the quote that ends a cell (it began on line ${this.quotedSince}): write a quote within a cell twice`,
      );
    if (this.state === 'start') this.state = 'plain';
    this.append(text);
  }

  private append(text: string): void {
    this.characters += text.length;
    this.cell += text;
    if (!this.isTooLong) return;
    this.cell = this.cell.slice(0, KEPT_OF_CELL);
    // If a quote is missing, the rows after it become one cell, and nobody knows which rows these are.
    if (this.state === 'quoted' && this.line > this.quotedSince) {
      const most = MAX_ROW_CHARACTERS.toLocaleString('en');
      const message = `a quote begins a cell here that has several lines, in a row of more than ${most} characters: is the quote missing that ends it?`;
      throw this.fault(message, this.quotedSince);
    }
  }

  private get isTooLong(): boolean {
    return this.characters > MAX_ROW_CHARACTERS;
  }

  private endCell(): void {
    this.characters += 1;
    if (!this.isTooLong || this.cells.length < MAX_COLUMNS) this.cells.push(this.cell);
    this.cell = '';
    this.state = 'start';
  }

  private *endRow(): Generator<FileRow> {
    const { isTooLong, rowLine: line, cells } = this;
    this.endCell();
    this.cells = [];
    this.characters = 0;
    this.rowLine = this.line;
    if (isTooLong || !cells.every(isBlank)) yield { line, cells, isTooLong };
  }

  private fault(message: string, line = this.line): Problem {
    const index = this.cells.length;
    const column = this.columns[index] ?? String(index + 1);
    return new Problem('campaign_unreadable', `Line ${line}, column ${column}: ${message}`);
  }
}
