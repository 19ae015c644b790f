/** Figures of the talk's slides: 4,000 sockets on one local pod, four minutes of flood. Another machine and a much older Node. */
export const TALK_FLOOD_SECONDS = 240;

export interface TalkStep {
  readonly title: string;
  readonly received: number;
  readonly sent: number;
  readonly idlePlateauBytes: number;
}

export const talkBaseline: TalkStep = {
  title: "the talk's baseline",
  received: 16,
  sent: 56_000,
  idlePlateauBytes: 600e6,
};

export const talkEnd: TalkStep = {
  title: "the talk's end",
  received: 117,
  sent: 476_000,
  idlePlateauBytes: 300e6,
};
