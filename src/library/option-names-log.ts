import type { Logger } from '../base/log.ts';

/** Methods that write a line. */
const WRITES: ReadonlySet<unknown> = new Set(['trace', 'debug', 'info', 'warn', 'error', 'fatal']);

type Write = (...parts: unknown[]) => void;

/**
 * The logger of a program, whose lines name options instead of environment variables: in the message and in the field `reason`. It is no
 * child, so that a change of the level holds for both.
 * @param rename replaces the names in a text
 */
export function withOptionNamesInLines(log: Logger, rename: (text: string) => string): Logger {
  return new Proxy(log, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      // A level that is off writes nothing that could be renamed.
      if (!WRITES.has(property) || !target.isLevelEnabled(property as string)) return value;
      return (...parts: unknown[]) =>
        (value as Write).apply(
          target,
          parts.map((part) => renamed(part, rename)),
        );
    },
  });
}

function renamed(part: unknown, rename: (text: string) => string): unknown {
  if (typeof part === 'string') return rename(part);
  if (typeof part !== 'object' || part === null || !('reason' in part) || typeof part.reason !== 'string') return part;
  return { ...part, reason: rename(part.reason) };
}
