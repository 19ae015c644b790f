import { markdownTable } from '../../loadtest/runner/table.ts';
import type { Candidate } from './candidates.ts';
import type { Outcome } from './trial.ts';

/** Share of killed mutants, in percent. A mutant whose tests time out counts as killed. */
export function scoreOf(outcomes: readonly Outcome[]): number {
  return (100 * outcomes.filter(isKilled).length) / outcomes.length;
}

export function summaryOf(outcomes: readonly Outcome[], total: number): string {
  const count = (result: Outcome['result']) => outcomes.filter((outcome) => outcome.result === result).length;
  return (
    `score ${scoreOf(outcomes).toFixed(1)} %: of ${outcomes.length} mutants (of ${total}) ${count('killed')} were killed, ` +
    `${count('timed out')} timed out, ${count('survived')} survived, ${count('not reached')} were not reached by a test`
  );
}

/** Markdown: the score, a row for each file, and the survivors. */
export function reportOf(command: string, folder: string, outcomes: readonly Outcome[], total: number): string {
  const files = [...new Set(outcomes.map(({ candidate }) => candidate.mutant.file))];
  const rows = files.map((file) => {
    const ofFile = outcomes.filter(({ candidate }) => candidate.mutant.file === file);
    return [file, `${ofFile.length}`, `${ofFile.filter(isKilled).length}`, `${scoreOf(ofFile).toFixed(0)} %`];
  });
  const alive = outcomes.filter((outcome) => !isKilled(outcome));
  return `# Mutants of src/${folder}

\`${command}\`: ${summaryOf(outcomes, total)}.

${markdownTable([['file', 'mutants', 'killed', 'score'], ...rows])}
## Survivors

${alive.length === 0 ? 'None.\n' : alive.map(({ candidate, result }) => entryOf(candidate, result)).join('\n')}`;
}

function isKilled({ result }: Outcome): boolean {
  return result === 'killed' || result === 'timed out';
}

function entryOf({ mutant, change }: Candidate, result: Outcome['result']): string {
  const lines = [...change.before.map((line) => `- ${line}`), ...change.after.map((line) => `+ ${line}`)];
  const note = result === 'not reached' ? ', not reached by a test' : '';
  return `${mutant.file}:${change.line}, ${mutant.kind}${note}\n\n\`\`\`diff\n${lines.join('\n')}\n\`\`\`\n`;
}
