import { element } from '../element.ts';

/** A result of a subscription, with the time at which it came. */
interface ListedEvent {
  readonly number: number;
  readonly at: Date;
  readonly result: object;
}

const MOST_EVENTS = 100;
/** Characters of an event's line, which its window cuts. */
const LINE_LENGTH = 300;
/** Least time between two drawings of the list. */
const DRAW_MS = 250;
const RATE_SECONDS = 5;

/** The last events of the page's subscriptions, the newest first: GraphiQL shows each in place of the one before. */
export class EventList {
  readonly #root: HTMLDetailsElement;
  readonly #rate = element('span', 'rate');
  readonly #pause = element('button', '', 'Pause');
  readonly #list = element('ol');
  #events: ListedEvent[] = [];
  #count = 0;
  /** Events that came since the list was paused; undefined: it is not. */
  #waiting: ListedEvent[] | undefined;
  #waitingCount = 0;
  /** Events of each of the last seconds, the current one last. */
  #perSecond: number[] = [0];
  #isDue = false;

  constructor(root: HTMLDetailsElement) {
    const clear = element('button', '', 'Clear');
    const bar = element('div', 'bar');
    const summary = element('summary', '', 'Events');
    this.#root = root;
    clear.onclick = () => this.#clear();
    this.#pause.onclick = () => (this.#waiting ? this.#resume() : this.#stop());
    summary.append(this.#rate);
    bar.append(this.#pause, clear);
    root.append(summary, bar, this.#list);
    root.hidden = true;
    setInterval(() => this.#tick(), 1000);
  }

  /** Shows the list from the first event on. */
  add(result: object): void {
    const event = { number: ++this.#count, at: new Date(), result };
    this.#perSecond[this.#perSecond.length - 1]!++;
    if (this.#waiting) {
      this.#waitingCount++;
      keep(this.#waiting, event);
    } else keep(this.#events, event);
    this.#draw();
  }

  #stop(): void {
    this.#waiting ??= [];
    this.#draw();
  }

  #resume(): void {
    for (const event of this.#waiting ?? []) keep(this.#events, event);
    this.#waiting = undefined;
    this.#waitingCount = 0;
    this.#draw();
  }

  #clear(): void {
    this.#events = [];
    this.#draw();
  }

  #tick(): void {
    this.#perSecond = [...this.#perSecond, 0].slice(-RATE_SECONDS - 1);
    if (!this.#root.hidden) this.#drawRate();
  }

  #draw(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setTimeout(() => {
      this.#isDue = false;
      this.#root.hidden = false;
      this.#drawRate();
      this.#pause.textContent = this.#waiting ? `Resume (${this.#waitingCount} waiting)` : 'Pause';
      this.#drawList();
    }, DRAW_MS);
  }

  #drawRate(): void {
    const full = this.#perSecond.slice(0, -1);
    const perSecond = full.length > 0 ? full.reduce((sum, count) => sum + count, 0) / full.length : 0;
    const total = this.#count === 1 ? '1 event' : `${this.#count} events`;
    this.#rate.textContent = `${total}, ${perSecond < 10 ? perSecond.toFixed(1) : perSecond.toFixed(0)} a second`;
  }

  /** Keeps the lines of events that are still listed: one that somebody has opened stays open. */
  #drawList(): void {
    const shown = new Map([...this.#list.children].map((line) => [(line as HTMLElement).dataset['number'], line]));
    const lines = this.#events
      .toReversed()
      .map((event) => shown.get(`${event.number}`) ?? lineOf(event, () => this.#stop()));
    this.#list.replaceChildren(...lines);
  }
}

function keep(events: ListedEvent[], event: ListedEvent): void {
  events.push(event);
  if (events.length > MOST_EVENTS) events.shift();
}

/** @param onOpen called when somebody wants to read it whole */
function lineOf({ number, at, result }: ListedEvent, onOpen: () => void): HTMLElement {
  const line = element('li');
  const details = element('details');
  const summary = element('summary');
  const time = element('time', '', `${at.toTimeString().slice(0, 8)}.${`${at.getMilliseconds()}`.padStart(3, '0')}`);
  const text = JSON.stringify(result).slice(0, LINE_LENGTH);
  line.dataset['number'] = `${number}`;
  time.dateTime = at.toISOString();
  summary.append(time, element('span', '', text));
  details.append(summary);
  details.ontoggle = () => {
    if (!details.open) return;
    if (details.children.length === 1) details.append(element('pre', '', JSON.stringify(result, null, 2)));
    onOpen();
  };
  line.append(details);
  return line;
}
