import { PARTS, climb } from './ladder/climb.ts';
import type { Climb } from './ladder/climb.ts';
import type { LadderRow } from './ladder/figures.ts';
import { choices, on, whole } from './runner/flags.ts';
import { defineScenario } from './runner/scenario.ts';
import type { Cells } from './runner/table.ts';
import { whole as printed } from './story/report/tables.ts';
import { TALK_FLOOD_SECONDS } from './story/report/talk-figures.ts';
import { startStack } from './story/stack.ts';

export const scenario = defineScenario({
  name: 'loadtest',
  command: 'loadtest -- --ladder',
  question:
    "Plays the story with each pod in turn: the talk's baseline, each of its steps, each of crier's techniques, and crier.",
  flags: {
    ladder: on('this one'),
    sockets: whole('sockets', 4000),
    bare: whole('seconds without sockets', 2),
    idle: whole('seconds after all sockets have connected', 6),
    flood: whole('seconds of writing', 30),
    concurrency: whole('concurrent kcat processes', 3),
    parts: choices('of', PARTS),
  },
  out: 'ladder',
  packages: ['ws', 'graphql', 'graphql-ws', 'graphql-redis-subscriptions'],
  notes: `Exits with 1 unless every record reached every socket exactly once, and crier sends 100 times the messages of the baseline and 20 times
those of the talk's end state, with a lower idle plateau.`,
  run: async ({ flags, scope, signal, say }) => {
    const { sockets, parts, concurrency: writerCount } = flags;
    const phases = { bareSeconds: flags.bare, idleSeconds: flags.idle, floodSeconds: flags.flood };
    const stack = await startStack(scope, say);
    const { rows, semiSpaces, faults } = await climb(
      { ...stack, sockets, writerCount, phases, parts, signal, say },
      scope,
    );
    return {
      intro: `recv: records taken from Kafka. send: messages that reached sockets. Both scaled from the flood of this run to the four minutes of the talk's. ×: ratio to the baseline of the same run.
CPU µs: CPU time of the server per message. idle MB, flood MB: plateau of the heap used in the phase.
"the talk": the figures that the talk gave, on another machine; its ratios are its counts divided by its baseline's. Where it gave none the cell is empty, and the step is not compared with it.`,
      sections: [
        { table: ladderTable(rows) },
        ...(semiSpaces.length > 0 ? [{ title: "crier's young generation", table: semiSpaceTable(semiSpaces) }] : []),
      ],
      success: 'Nothing was lost, and crier is as far ahead as promised.',
      faults,
      data: { rows, semiSpaces },
    };
  },
});

/** A row for each rung. Counts are those of the talk's four minutes at the measured rate. `×`: ratio to the baseline of the same run. */
export function ladderTable(rows: readonly LadderRow[]): Cells[] {
  const head = ['rung', 'recv', 'the talk', 'send', 'the talk', 'send/s', 'send ×', 'the talk', 'CPU µs', 'idle MB'];
  return [[...head, 'the talk', 'flood MB', "the talk's words"], ...rows.map(cellsOf)];
}

function cellsOf({ title, measured, talk, talkRatios, note }: LadderRow): Cells {
  const given = (figure: number | undefined) => (figure === undefined ? '' : printed(figure));
  const times = (ratio: number | undefined) => ratio?.toFixed(ratio < 100 ? 2 : 0) ?? '';
  const inFourMinutes = (count: number) => printed((count / measured!.seconds) * TALK_FLOOD_SECONDS);
  return [
    title,
    measured ? inFourMinutes(measured.received) : '–',
    given(talk?.received),
    measured ? inFourMinutes(measured.sent) : '–',
    given(talk?.sent),
    measured ? printed(measured.sentPerSecond) : '–',
    times(measured?.ratios?.sent),
    times(talkRatios.sent),
    measured ? measured.cpuUs.toFixed(measured.cpuUs < 10 ? 2 : 0) : '–',
    measured ? measured.idleMegabytes.toFixed(0) : '–',
    given(talk?.idleMegabytes),
    measured ? measured.floodMegabytes.toFixed(0) : '–',
    [talk?.words, note].filter(Boolean).join('; '),
  ];
}

/** A row for each size of the young generation. */
function semiSpaceTable(rows: Climb['semiSpaces']): Cells[] {
  return [
    ['semi-space MB', 'send/s', 'CPU µs', 'scavenges', 'GC % of CPU', 'flood MB', 'RSS MB'],
    ...rows.map(({ megabytes, measured }) => [
      ...[String(megabytes), printed(measured.sentPerSecond), measured.cpuUs.toFixed(2), printed(measured.scavenges)],
      ...[measured.gcPercent.toFixed(1), measured.floodMegabytes.toFixed(0), measured.residentMegabytes.toFixed(0)],
    ]),
  ];
}
