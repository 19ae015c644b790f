import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import type { SourceMapping, SourceMapPayload } from 'node:module';
import { dirname, relative, resolve } from 'node:path';

/** A place in a source file, before compilation. The first line is 1. */
export interface SourcePlace {
  /** Relative to the working directory. */
  readonly file: string;
  readonly line: number;
}

/** The text of a script as V8 ran it, with its source map if it has one. */
export class ScriptText {
  readonly #path: string;
  readonly #lineStarts: readonly number[];
  readonly #map: SourceMap | undefined;

  constructor(path: string, text: string) {
    this.#path = path;
    const lineStarts = [0];
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) lineStarts.push(end + 1);
    this.#lineStarts = lineStarts;
    this.#map = readSourceMap(path, text);
  }

  /** The first line and column are 1. */
  offset(line: number, column: number): number {
    return this.#lineStarts[line - 1]! + column - 1;
  }

  /** The place in the source file, else in the script itself. */
  sourcePlace(line: number, column: number): SourcePlace {
    const entry = this.#map?.findEntry(line - 1, column - 1) as Partial<SourceMapping> | undefined;
    if (entry?.originalSource === undefined) return { file: relativePath(this.#path), line };
    return { file: relativePath(resolve(dirname(this.#path), entry.originalSource)), line: entry.originalLine! + 1 };
  }
}

function readSourceMap(path: string, text: string): SourceMap | undefined {
  const [, inline, file] =
    /^\/\/# sourceMappingURL=(?:data:[^,]*;base64,(\S+)|(\S+))\s*$/m.exec(text.slice(text.lastIndexOf('\n//# '))) ?? [];
  if (inline !== undefined) return parseMap(Buffer.from(inline, 'base64').toString());
  // Packages seldom ship the map that they name.
  if (file === undefined || path.includes('/node_modules/')) return undefined;
  return parseMap(readFileSync(resolve(dirname(path), file), 'utf8'));
}

function parseMap(json: string): SourceMap {
  return new SourceMap(JSON.parse(json) as SourceMapPayload);
}

function relativePath(path: string): string {
  return path.startsWith('/') ? relative('.', path) : path;
}
