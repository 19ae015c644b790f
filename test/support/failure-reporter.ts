import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

const MAX_ERROR_LENGTH = 300;

/**
 * A reporter of `node --test`: one line for each failed test, with its file as it stands in the repository:
 * `suite › title (test/a.test.ts:12): Expected values to be strictly equal: 1 !== 2`
 */
export default async function* failureReporter(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  /** Of the suites and the test that run, outermost first. Node reports one file after the other. */
  const names: string[] = [];
  for await (const { type, data } of events) {
    if (type === 'test:start') names.splice(data.nesting, Infinity, data.name);
    // What happens after a test fails its file, whose own event does not say why.
    if (type === 'test:diagnostic' && data.message.startsWith('Error: Test "')) yield `${onOneLine(data.message)}\n`;
    if (type !== 'test:fail') continue;
    const error = data.details.error as Error & { failureType?: string };
    // A suite fails with its tests, which are named.
    if (error.failureType === 'subtestsFailed') continue;
    const place = `(${relative('', data.file ?? '')}:${data.line})`;
    const title = [...names.slice(0, data.nesting), data.name === data.file ? 'the file' : data.name].join(' › ');
    yield `${title} ${place}: ${onOneLine(reasonOf(error))}\n`;
  }
}

/** The error that a test threw is the cause of the one that node reports. */
function reasonOf(error: Error): string {
  const { message, code } = (error.cause ?? {}) as { message?: string; code?: string };
  // An error of several attempts to connect has no message.
  return message || code || error.message;
}

function onOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, MAX_ERROR_LENGTH);
}
