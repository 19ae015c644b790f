import { conditionsList } from '../fanout/conditions.ts';
import type { Conditions } from '../fanout/conditions.ts';
import { whole } from '../story/report/figure-text.ts';
import { markdownTable } from '../table.ts';
import { TALK_FLOOD_SECONDS } from '../story/report/talk-figures.ts';
import type { Cells } from '../table.ts';
import type { Climb } from './climb.ts';
import type { LadderRow } from './figures.ts';
import { findingsOf } from './findings.ts';
import type { SemiSpaceRow } from './semi-space.ts';

const HEADINGS = [
  'rung',
  'recv',
  'the talk',
  'send',
  'the talk',
  'send/s',
  'send ×',
  'the talk',
  'CPU µs',
  'idle MB',
  'the talk',
  'flood MB',
  "the talk's words",
];

/** A row for each rung. Counts are those of the talk's four minutes at the measured rate. `×`: ratio to the baseline of the same run. */
export function ladderTable(rows: readonly LadderRow[]): Cells[] {
  return [HEADINGS, ...rows.map(cellsOf)];
}

function cellsOf({ title, measured, talk, talkRatios, note }: LadderRow): Cells {
  const inFourMinutes = (count: number) => whole((count / measured!.seconds) * TALK_FLOOD_SECONDS);
  return [
    title,
    measured ? inFourMinutes(measured.received) : '–',
    given(talk?.received),
    measured ? inFourMinutes(measured.sent) : '–',
    given(talk?.sent),
    measured ? whole(measured.sentPerSecond) : '–',
    times(measured?.ratios?.sent),
    times(talkRatios.sent),
    measured ? measured.cpuUs.toFixed(measured.cpuUs < 10 ? 2 : 0) : '–',
    measured ? measured.idleMegabytes.toFixed(0) : '–',
    given(talk?.idleMegabytes),
    measured ? measured.floodMegabytes.toFixed(0) : '–',
    [talk?.words ?? '', note ?? ''].filter((text) => text !== '').join('; '),
  ];
}

function given(figure: number | undefined): string {
  return figure === undefined ? '' : whole(figure);
}

/** A row for each size of the young generation. */
export function semiSpaceTable(rows: readonly SemiSpaceRow[]): Cells[] {
  return [
    ['semi-space MB', 'send/s', 'CPU µs', 'scavenges', 'GC % of CPU', 'flood MB', 'RSS MB'],
    ...rows.map(({ megabytes, measured }) => [
      String(megabytes),
      whole(measured.sentPerSecond),
      measured.cpuUs.toFixed(2),
      whole(measured.scavenges),
      measured.gcPercent.toFixed(1),
      measured.floodMegabytes.toFixed(0),
      measured.residentMegabytes.toFixed(0),
    ]),
  ];
}

export interface Report extends Climb {
  readonly conditions: Conditions;
}

export function markdownReport(name: string, { conditions, rows, semiSpaces, faults }: Report): string {
  const verdict = faults.length > 0 ? faults : ['Nothing was lost, and crier is as far ahead as promised.'];
  return `# Results: ${name}

recv: records taken from Kafka. send: messages that reached sockets. Both scaled from the flood of this run to the four minutes of the talk's. ×: ratio to the baseline of the same run.
CPU µs: CPU time of the server per message. idle MB, flood MB: plateau of the heap used in the phase.
"the talk": the figures that the talk gave, on another machine; its ratios are its counts divided by its baseline's. Where it gave none the cell is empty, and the step is not compared with it.

${markdownTable(ladderTable(rows))}
${bullets(findingsOf(rows))}
## Verdict

${bullets(verdict)}
${semiSpaces.length === 0 ? '' : `## crier's young generation\n\n${markdownTable(semiSpaceTable(semiSpaces))}\n`}## Conditions

${conditionsList(conditions)}
![The same figures as a picture](${name}.svg)
`;
}

function bullets(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}\n`).join('');
}

function times(ratio: number | undefined): string {
  return ratio === undefined ? '' : ratio.toFixed(ratio < 100 ? 2 : 0);
}
