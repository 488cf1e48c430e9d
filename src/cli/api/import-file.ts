import { createHash } from 'node:crypto';
import { open, stat, type FileHandle } from 'node:fs/promises';
import { CommandError } from '../command-error.js';

/** A file that is sent twice: to be checked, and after a confirmation to be imported. */
export class ImportFile {
  private digest: string | undefined;

  private constructor(
    readonly path: string,
    private readonly handle: FileHandle,
  ) {}

  /** Throws CommandError if this is not a file, or if it cannot be read. A pipe can be read only once. */
  static async open(path: string): Promise<ImportFile> {
    const stats = path === '-' ? undefined : await stat(path).catch(() => cannotBeRead(path));
    if (stats?.isDirectory()) throw new CommandError('file', `${path} is a folder.`);
    if (!stats?.isFile())
      throw new CommandError('file', `${path} is not a file, and is read twice: save its content to a file.`);
    return new ImportFile(path, await open(path).catch(() => cannotBeRead(path)));
  }

  /** Yields the bytes. If they differ from those of the first reading, throws CommandError at the end, so that the upload fails. */
  async *read(): AsyncGenerator<Buffer, void> {
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
