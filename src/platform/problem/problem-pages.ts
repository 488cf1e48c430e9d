import type { IncomingHttpHeaders } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { Problem } from './problem.js';

export interface ProblemPage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** `url`: the path of the request, with its query. */
type Render = (
  problem: Problem,
  request: { readonly url: string; readonly headers: IncomingHttpHeaders },
) => ProblemPage;

/** The pages that replace the JSON of a problem below the paths that people open. */
@Injectable()
export class ProblemPages {
  private readonly renders = new Map<string, Render>();

  /** `folder`: a path without a slash at its end, such as `/i`. */
  add(folder: string, render: Render): void {
    this.renders.set(folder, render);
  }

  /** Returns the page for a problem, or undefined if programs use this path. */
  find(problem: Problem, url: string, headers: IncomingHttpHeaders): ProblemPage | undefined {
    for (const [folder, render] of this.renders)
      if (url.startsWith(folder) && /^(?:[/?]|$)/.test(url.slice(folder.length)))
        return render(problem, { url, headers });
    return undefined;
  }
}
