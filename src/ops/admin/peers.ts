import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Control } from '../../bus/control.ts';
import { LogWindow } from '../../base/log.ts';
import type { Logger } from '../../base/log.ts';

export interface PeersOptions<Question, Answer> {
  /** Names the pods that ask each other these questions, among all processes of the bus. Default: the pods with sockets. */
  readonly group?: string;
  readonly control: Control;
  /** Of this pod, for people. */
  readonly podName: string;
  /** Of this pod. Begins in the same turn. */
  readonly answer: (question: Question) => Promise<Answer>;
  readonly log: Logger;
  /** Interval in ms at which this pod says that it exists. After three, it is expected to answer no longer. Default: 10 s. */
  readonly beatMs?: number;
}

export interface Answers<Answer> {
  /** This pod's is the first. */
  readonly answers: readonly { readonly pod: string; readonly answer: Answer }[];
  /** Ids of the other pods that have answered. */
  readonly ids: readonly string[];
  /** Names of the pods that have not answered in time. A name that has answered is none: its pod, or a process of it, was replaced. */
  readonly silent: readonly string[];
  /** False if other pods could not be asked: the bus is away. */
  readonly isAsked: boolean;
}

/** The texts that pods exchange. `from` and `pod` are ids of pods, `id` is that of the question. */
interface Asked<Question> {
  readonly id: string;
  readonly from: string;
  readonly question: Question;
}
interface Answered<Answer> {
  readonly id: string;
  readonly pod: string;
  readonly answer: Answer;
}

/** Why only the pod that was asked has answered, in notes for operators. */
export const NOT_ASKED = 'Redis did not take the question to others';

const BEAT_MS = 10_000;
const REGISTRATION_BEATS = 3;
const MAX_PODS = 1_000;
/** Longest wait for answers, in ms. */
const PATIENCE_MS = 4_500;
const LOG_WINDOW_MS = 60_000;

interface AskOptions {
  /** Longest wait for answers, in ms. Default: 4,500. */
  readonly patienceMs?: number;
  /** Ids of the pods that are waited for. Default: all. */
  readonly among?: readonly string[];
}

/** Pods of which each can ask all others. They know of each other through the bus. */
export class Peers<Question, Answer> {
  readonly #options: PeersOptions<Question, Answer>;
  readonly #id: string;
  readonly #beatMs: number;
  readonly #pods: string;
  readonly #questions: string;
  readonly #window = new LogWindow(LOG_WINDOW_MS);
  /** By question. */
  readonly #waiting = new Map<string, (answered: Answered<Answer>) => void>();
  #isListening = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: PeersOptions<Question, Answer>) {
    this.#options = options;
    const { group = '', podName, beatMs = BEAT_MS } = options;
    this.#beatMs = beatMs;
    this.#id = `${podName} ${randomBytes(4).toString('hex')}`;
    this.#pods = `control:${group}pods`;
    this.#questions = `control:${group}questions`;
  }

  /** Resolves after the first attempt to reach the bus, also a failed one; never rejects. */
  start(): Promise<void> {
    this.#timer = setInterval(() => void this.#beat(), this.#beatMs);
    return this.#beat();
  }

  /** Takes the pod out of those that are waited for. Bounded by the bus. */
  async close(): Promise<void> {
    if (!this.#timer) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (this.#isListening) await this.#register(0).catch(() => undefined);
  }

  /** Asks this pod and all others. Never rejects, unless this pod's own answer does. */
  async ask(question: Question, { patienceMs = PATIENCE_MS, among }: AskOptions = {}): Promise<Answers<Answer>> {
    const { answer, podName } = this.#options;
    const id = randomUUID();
    const others = new Map<string, Answer>();
    let onAnswer: () => void = () => undefined;
    this.#waiting.set(id, ({ pod, answer: other }) => {
      others.set(pod, other);
      onAnswer();
    });
    const timer = new AbortController();
    const deadline = delay(patienceMs, undefined, { signal: timer.signal }).catch(() => undefined);
    try {
      const asked = Promise.race([this.#send(id, question), deadline]);
      const own = { pod: podName, answer: await answer(question) };
      const ids = ((await asked) ?? []).filter((pod) => !among || among.includes(pod));
      const isMissing = (pod: string) => pod !== this.#id && !others.has(pod);
      const complete = new Promise<void>((resolve) => {
        onAnswer = () => {
          if (!ids.some(isMissing)) resolve();
        };
        onAnswer();
      });
      await Promise.race([complete, deadline]);
      const answers = [own, ...Array.from(others, ([pod, other]) => ({ pod: nameOf(pod), answer: other }))];
      const answered = new Set(answers.map(({ pod }) => pod));
      return {
        answers,
        ids: [...others.keys()],
        silent: ids
          .filter(isMissing)
          .map(nameOf)
          .filter((name) => !answered.has(name)),
        isAsked: (await asked) !== undefined,
      };
    } finally {
      timer.abort();
      this.#waiting.delete(id);
    }
  }

  /** Resolves with the ids of all pods; undefined: the bus is away. */
  async #send(id: string, question: Question): Promise<string[] | undefined> {
    const { control } = this.#options;
    const text = JSON.stringify({ id, from: this.#id, question } satisfies Asked<Question>);
    try {
      const [, pods] = await Promise.all([control.send(this.#questions, text), control.kept(this.#pods)]);
      return pods;
    } catch {
      return undefined;
    }
  }

  /** The bus logs its own outage. */
  async #beat(): Promise<void> {
    const { control } = this.#options;
    try {
      if (!this.#isListening) {
        // The bus may have lost its data.
        const onGap = () => void this.#beat();
        await control.listen(this.#questions, (text) => this.#onText(text, this.#onQuestion), onGap);
        await control.listen(answersOf(this.#id), (text) => this.#onText(text, this.#onAnswer), onGap);
        this.#isListening = true;
      }
      if (this.#timer) await this.#register(Date.now() + REGISTRATION_BEATS * this.#beatMs);
    } catch {
      return;
    }
  }

  async #register(untilMs: number): Promise<void> {
    await this.#options.control.keep(this.#pods, [{ text: this.#id, untilMs }], MAX_PODS);
  }

  /** Handles a text before the next one arrives, so that a question acts before what its sender wrote after it. */
  #onText<Message>(text: string, handle: (message: Message) => void | Promise<void>): void {
    const handling = async () => handle(JSON.parse(text) as Message);
    handling().catch((error: unknown) =>
      this.#window.run('text', (suppressed) =>
        this.#options.log.warn({ err: error, suppressed }, 'a question of another pod could not be answered'),
      ),
    );
  }

  readonly #onQuestion = async ({ id, from, question }: Asked<Question>): Promise<void> => {
    if (from === this.#id) return;
    const { answer, control } = this.#options;
    const answered = { id, pod: this.#id, answer: await answer(question) } satisfies Answered<Answer>;
    await control.send(answersOf(from), JSON.stringify(answered));
  };

  readonly #onAnswer = (answered: Answered<Answer>): void => this.#waiting.get(answered.id)?.(answered);
}

/** The name under which a pod receives answers. */
function answersOf(id: string): string {
  return `control:answers:${id}`;
}

/** The pod's name, which may have spaces. */
function nameOf(id: string): string {
  return id.slice(0, id.lastIndexOf(' '));
}
