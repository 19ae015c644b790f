/** Ends the process once the readers of both standard streams have everything, or are gone. */
export async function exit(code: number): Promise<never> {
  await Promise.all([process.stdout, process.stderr].map(drained));
  return process.exit(code);
}

/** A pipe and a terminal take a few KB at a time; `process.exit` drops what waits. */
export async function drained(stream: NodeJS.WriteStream): Promise<void> {
  if (stream.writableLength > 0) await new Promise((resolve) => stream.write('', resolve));
}
