import type { CommandWords, Shell } from './shells.ts';

/** The script of a shell, which completes commands, their options, and the words that may follow. */
export const scripts: Readonly<Record<Shell, (commands: readonly CommandWords[]) => string>> = {
  bash: (commands) => `# bash completion of crier: source <(crier completion bash)
_crier() {
  local word=\${COMP_WORDS[COMP_CWORD]} choices=
  if [ "$COMP_CWORD" -eq 1 ]; then
    choices='${namesOf(commands)}'
  else
    case \${COMP_WORDS[1]} in
${commands.map(({ name, words, options }) => `      ${name}) choices='${[...words, ...options].join(' ')}' ;;\n`).join('')}    esac
  fi
  COMPREPLY=($(compgen -W "$choices" -- "$word"))
}
complete -o default -F _crier crier
`,
  zsh: (commands) => `#compdef crier
# zsh completion of crier: source <(crier completion zsh), after compinit
_crier() {
  local -a choices
  if (( CURRENT == 2 )); then
    choices=(
${commands.map(({ name, summary }) => `      '${name}:${quoted(summary)}'\n`).join('')}    )
    _describe command choices
    return
  fi
  case $words[2] in
${commands.map(({ name, words, options }) => `    ${name}) choices=(${[...words, ...options].join(' ')}) ;;\n`).join('')}  esac
  compadd -a choices
  _files
}
compdef _crier crier
`,
  fish: (commands) => `# fish completion of crier: crier completion fish | source
${commands.map(fishLines).join('')}`,
};

function namesOf(commands: readonly CommandWords[]): string {
  return commands.map(({ name }) => name).join(' ');
}

function fishLines({ name, summary, words, options }: CommandWords): string {
  const after = `complete -c crier -n '__fish_seen_subcommand_from ${name}'`;
  return [
    `complete -c crier -n __fish_use_subcommand -f -a ${name} -d '${quoted(summary)}'\n`,
    ...(words.length === 0 ? [] : [`${after} -f -a '${words.join(' ')}'\n`]),
    ...options.map((option) => `${after} -l ${option.slice(2)}\n`),
  ].join('');
}

/** Inside of single quotes. */
function quoted(text: string): string {
  return text.replaceAll("'", String.raw`'\''`);
}
