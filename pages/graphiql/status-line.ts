import { element } from '../element.ts';
import { eventHint } from './event-hint.ts';
import type { EventSources } from '../../src/graph/schema/event-source-type.ts';
import type { ConnectionState, Run, Session } from './session.ts';

const LABELS: Readonly<Record<ConnectionState, string>> = {
  idle: 'idle',
  connecting: 'connecting…',
  live: 'live',
  reconnecting: 'reconnecting…',
};

type Shown = Pick<Session, 'state' | 'reason' | 'subscription' | 'claims'>;

/** The line below the editors: how the connection is, and what becomes of the subscription that runs. */
export class StatusLine {
  readonly #sources: EventSources;
  readonly #state = element('strong');
  readonly #text = element('span');
  readonly #command = element('code');
  readonly #root: HTMLElement;
  #isDue = false;

  constructor(root: HTMLElement, sources: EventSources) {
    this.#root = root;
    this.#sources = sources;
    root.append(this.#state, this.#text, this.#command);
  }

  /** Shows the session at the next frame: events may come faster. */
  show(session: Shown): void {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      this.#draw(session);
    });
  }

  #draw(session: Shown): void {
    const { state, reason, subscription } = session;
    this.#root.dataset['state'] = state;
    this.#state.textContent = LABELS[state];
    let text = reason;
    let command = '';
    if (subscription && subscription.events > 0) {
      text = [reason, eventsText(subscription)].filter(Boolean).join(' · ');
    } else if (subscription && state === 'live') {
      const hint = eventHint(subscription.operation, this.#sources, session.claims);
      text = `waiting for an event. ${hint.text}`;
      command = hint.command ?? '';
    }
    this.#text.textContent = text;
    this.#command.textContent = command;
    this.#command.hidden = command === '';
  }
}

function eventsText({ events, missedBefore, resumed }: Run): string {
  const count = events === 1 ? '1 event' : `${events} events`;
  if (missedBefore !== undefined) return `${count} · events may have been missed before event ${missedBefore}`;
  return resumed ? `${count} · resumed: no event was missed` : count;
}
