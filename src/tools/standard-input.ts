/** Standard input. On a terminal, which shows nothing by itself, a line says what is awaited and how it ends. */
export function standardInput(what: string): NodeJS.ReadStream {
  // It is undefined where the stream is a file or a pipe.
  if (process.stdin.isTTY as boolean | undefined)
    process.stderr.write(`reading ${what} from this terminal; Ctrl-D ends them\n`);
  return process.stdin;
}
