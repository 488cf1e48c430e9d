import { createHash } from 'node:crypto';
import { open, stat, type FileHandle } from 'node:fs/promises';
import { isWorkbook } from '../../spreadsheet/sheet.rules.js';
import { CommandError } from '../command-error.js';
import type { WorkbookOptions } from './import-workbook.js';

/** The most bytes of a workbook, which is read whole. */
const MOST_WORKBOOK_BYTES = 64 * 1_048_576;

/** A file that is sent twice: to be checked, and after a confirmation to be imported. */
export class ImportFile {
  private digest: string | undefined;
  /** The text that a workbook is sent as. */
  private text: Buffer | undefined;

  private constructor(
    readonly path: string,
    private readonly handle: FileHandle,
    private readonly options: WorkbookOptions,
    readonly isWorkbook: boolean,
  ) {}

  /** Throws CommandError if this is not a file, or if it cannot be read. A pipe can be read only once. */
  static async open(path: string, options: WorkbookOptions = {}): Promise<ImportFile> {
    const stats = path === '-' ? undefined : await stat(path).catch(() => cannotBeRead(path));
    if (stats?.isDirectory()) throw new CommandError('file', `${path} is a folder.`);
    if (!stats?.isFile())
      throw new CommandError('file', `${path} is not a file, and is read twice: save its content to a file.`);
    const handle = await open(path).catch(() => cannotBeRead(path));
    const { buffer } = await handle.read(Buffer.alloc(8), 0, 8, 0);
    const file = new ImportFile(path, handle, options, isWorkbook(buffer));
    try {
      file.check(stats.size);
      // A fault of a workbook is told before anything is sent.
      if (file.isWorkbook) await file.readWorkbook();
      return file;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  private check(size: number): void {
    if (!this.isWorkbook && this.options.sheet !== undefined)
      throw new CommandError('file', `${this.path} is no workbook, and has no sheets.`);
    if (this.isWorkbook && size > MOST_WORKBOOK_BYTES)
      throw new CommandError(
        'file',
        `${this.path} is a workbook of more than 64 MiB: save the sheet as CSV.`,
      );
  }

  /** Yields the bytes. If they differ from those of the first reading, throws CommandError at the end, so that the upload fails. */
  async *read(): AsyncGenerator<Buffer, void> {
    if (this.isWorkbook) yield await this.readWorkbook();
    else yield* this.readBytes();
  }

  private async readWorkbook(): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for await (const chunk of this.readBytes()) chunks.push(chunk);
    // The library is loaded for a workbook alone.
    const { csvOfWorkbook } = await import('./import-workbook.js');
    this.text ??= Buffer.from(await csvOfWorkbook(Uint8Array.from(Buffer.concat(chunks)), this.options));
    return this.text;
  }

  private async *readBytes(): AsyncGenerator<Buffer, void> {
    const hash = createHash('sha256');
    const bytes = this.handle.createReadStream({ start: 0, autoClose: false });
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      hash.update(chunk);
      yield chunk;
    }
    const digest = hash.digest('hex');
    this.digest ??= digest;
    if (digest !== this.digest)
      throw new CommandError(
        'file_changed',
        `${this.path} has changed since it was checked: nothing was imported. Run the command again.`,
      );
  }

  close(): Promise<void> {
    return this.handle.close();
  }
}

function cannotBeRead(path: string): never {
  throw new CommandError('file', `${path} cannot be read.`);
}
