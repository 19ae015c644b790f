import { commands } from '../src/tools/commands.ts';

/** Returns the page with a part for each command, from its summary and what its `--help` prints. */
export async function withCommands(page: string): Promise<string> {
  const parts = Object.entries(commands).map(async ([name, { summary, load }]) => {
    const { usage } = await load();
    return `## ${name}\n\n\`crier ${name}\` ${summary}.\n\n\`\`\`txt\n${usage.trimEnd()}\n\`\`\`\n`;
  });
  return `${page.slice(0, page.indexOf('## '))}${(await Promise.all(parts)).join('\n')}`;
}
