import { oneWord, readArguments } from '../command.ts';
import type { CommandEntry, Commands } from '../command.ts';
import { scripts } from './scripts.ts';
import { SHELLS } from './shells.ts';
import type { CommandWords } from './shells.ts';

export const usage = `Prints a script that completes commands, options and settings in a shell.

Usage: crier completion bash | zsh | fish

  bash  source <(crier completion bash)     a line for ~/.bashrc
  zsh   source <(crier completion zsh)      a line for ~/.zshrc, after compinit
  fish  crier completion fish | source      a line for ~/.config/fish/config.fish
`;

export async function run(args: readonly string[], commands: Commands): Promise<number> {
  const [name] = readArguments('completion', args, { options: {}, maxPositionals: 1 }).positionals;
  const shell = oneWord(SHELLS, name);
  const entries = Object.entries(commands);
  process.stdout.write(scripts[shell](await Promise.all(entries.map((entry) => wordsOf(entry, commands)))));
  return 0;
}

export const words = (): readonly string[] => SHELLS;

/** The help of a command names its options. */
async function wordsOf([name, entry]: readonly [string, CommandEntry], commands: Commands): Promise<CommandWords> {
  const command = await entry.load();
  const options = Array.from(command.usage.matchAll(/^ {2}(--[\w-]+)/gm), ([, option]) => option!);
  return {
    name,
    summary: entry.summary,
    words: command.words?.(commands) ?? [],
    options: [...new Set([...options, '--help'])],
  };
}
