import type { IncomingHttpHeaders } from 'node:http';
import { LogWindow } from '../../base/log.ts';
import type { Logger } from '../../base/log.ts';
import type { SettingNames } from '../../config/setting-names.ts';
import type { OriginRefusal } from '../../config/addresses/origin.ts';

const WINDOW_MS = 10_000;
/** Of a header that is logged: a name has 253 characters at most. */
const MAX_LENGTH = 300;

/** Logs origins and hosts that were refused, and the setting that allows them: one line within 10 s for each of the two reasons. */
export class RefusedOrigins {
  readonly #log: Logger;
  readonly #names: SettingNames;
  readonly #window = new LogWindow(WINDOW_MS);

  constructor(log: Logger, names: SettingNames) {
    this.#log = log;
    this.#names = names;
  }

  report({ reason }: OriginRefusal, { origin, host }: IncomingHttpHeaders): void {
    this.#window.run(reason, (suppressed) => {
      const facts = {
        reason,
        origin: origin?.slice(0, MAX_LENGTH),
        requestHost: host?.slice(0, MAX_LENGTH),
        suppressed,
      };
      this.#log.warn(facts, reason === 'origin' ? messageFor(origin, this.#names) : otherHost(this.#names));
    });
  }
}

const otherHost = (names: SettingNames): string =>
  `a request was refused, because its Host header is not the name of ${names.PUBLIC_ORIGIN} or ${names.ALLOWED_ORIGINS}; if it is yours, add its origin to ${names.ALLOWED_ORIGINS}, or let the proxy pass on the Host of the client`;

function messageFor(origin: string | undefined, names: SettingNames): string {
  return origin === undefined
    ? `a request of a page of another site was refused; if it is yours, add its origin to ${names.ALLOWED_ORIGINS}`
    : `a request of this origin was refused; if it is yours, add it to ${names.ALLOWED_ORIGINS}`;
}
