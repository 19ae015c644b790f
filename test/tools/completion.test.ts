import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { commands } from '../../src/tools/commands.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { crier } from './crier.ts';
import { refusalOf } from './refusal.ts';

/** Programs that print what a shell proposes for the words `$@`, the last of which is being typed; SCRIPT is the file of the completion. */
const PROPOSALS: Readonly<Record<string, string>> = {
  bash: `. SCRIPT; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _crier; printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: `compdef() { :; }; compadd() { print -l -- "\${(@P)2}"; }; _files() { :; }
_describe() { print -l -- "\${(@)\${(@P)2}%%:*}"; }; . SCRIPT; words=("$@"); CURRENT=$#; _crier | grep -- "^$words[-1]"`,
  fish: `source SCRIPT; complete -C "$argv" | cut -f1`,
};

async function proposals(shell: string, script: string, words: readonly string[]): Promise<string[]> {
  const program = PROPOSALS[shell]!.replaceAll('SCRIPT', script);
  const name = shell === 'fish' ? [] : [shell];
  const { stdout } = await promisify(execFile)(shell, ['-c', program, ...name, ...words]).catch(
    (error: { stdout: string }) => error,
  );
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .sort();
}

describe('crier completion', () => {
  for (const shell of Object.keys(PROPOSALS)) {
    it(`completes commands, options, settings and actions in ${shell}`, async (t) => {
      const { output, errors, code } = await crier(t, ['completion', shell]);
      assert.deepEqual([code, errors], [0, '']);
      const folder = await temporaryFolder(t);
      const script = join(folder, 'completion');
      await writeFile(script, output);
      const proposed = (...words: string[]) => proposals(shell, script, ['crier', ...words]);
      assert.deepEqual(await proposed(''), Object.keys(commands).sort());
      assert.deepEqual(await proposed('s'), ['settings', 'start']);
      assert.deepEqual(await proposed('dead-letters', 're'), ['replay']);
      assert.deepEqual(await proposed('settings', 'KAFKA_B'), ['KAFKA_BROKERS']);
      assert.deepEqual(await proposed('start', '--p'), ['--port']);
      assert.deepEqual(await proposed('completion', 'z'), ['zsh']);
    });
  }

  it('proposes the shell that is meant', async () => {
    const { message } = await refusalOf(['completion', 'bsh']);
    assert.equal(message, 'expected one of bash, zsh, fish, got "bsh"; did you mean "bash"?');
  });
});
