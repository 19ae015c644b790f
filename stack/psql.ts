import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';

interface Waiting {
  readonly resolve: (rows: string[][]) => void;
  readonly reject: (error: Error) => void;
}

/** One session of psql that stays open: a statement takes a round trip, not a process. Statements run one after the other. */
export class Psql {
  readonly #child: ChildProcess;
  /** Its echo comes after the rows of a statement. */
  readonly #end = `end-${randomUUID()}\n`;
  readonly #waiting: Waiting[] = [];
  #output = '';
  #errors = '';
  #failure: Error | undefined;

  constructor(port: number) {
    const connection = ['-h', '127.0.0.1', '-p', `${port}`, '-U', 'postgres', 'postgres'];
    // No ~/.psqlrc, no messages, rows without padding, header and footer, a unit separator between the values, an end at the first error.
    const flags = ['-X', '-q', '-A', '-t', '-F', '\x1f', '-v', 'ON_ERROR_STOP=1'];
    this.#child = spawn('psql', [...flags, ...connection], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, PGCLIENTENCODING: 'UTF8' },
    });
    this.#child.stdout!.setEncoding('utf8').on('data', (text: string) => this.#read(text));
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.#errors += text));
    this.#child.stdin!.on('error', () => undefined);
    const fail = (error: Error) => {
      this.#failure ??= error;
      this.#waiting.splice(0).forEach(({ reject }) => reject(error));
    };
    this.#child.once('error', fail);
    this.#child.once('close', () => fail(new Error(`psql ended: ${this.#errors.trim()}`)));
  }

  /**
   * The rows of the statements, each a list of texts; '' for null. No statement after one that failed is run.
   * @throws Error with what psql says, if one of them fails; the session has then ended
   */
  query(statements: string): Promise<string[][]> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure);
      this.#waiting.push({ resolve, reject });
      this.#child.stdin!.write(`${statements.replace(/;?\s*$/, ';')}\n\\echo ${this.#end}`);
    });
  }

  end(): void {
    this.#child.kill();
  }

  #read(text: string): void {
    this.#output += text;
    for (;;) {
      const found = this.#output.indexOf(this.#end);
      if (found < 0) return;
      const rows = this.#output.slice(0, found).split('\n').slice(0, -1);
      this.#output = this.#output.slice(found + this.#end.length);
      this.#waiting.shift()!.resolve(rows.map((row) => row.split('\x1f')));
    }
  }
}
