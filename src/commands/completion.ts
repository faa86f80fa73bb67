import { Argument, type Command } from 'commander'

const EXAMPLES = `
Examples:
  aldis completion bash > ~/.local/share/bash-completion/completions/aldis
  aldis completion zsh > ~/.zfunc/_aldis             in a folder of fpath
  aldis completion fish > ~/.config/fish/completions/aldis.fish`

/** Adds `aldis completion`, which needs every other command: it completes what the program has. */
export function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('Print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'The shell').choices(Object.keys(SCRIPTS)))
    .addHelpText('after', EXAMPLES)
    .action((shell: keyof typeof SCRIPTS) => {
      process.stdout.write(SCRIPTS[shell](wordsOf(program)))
    })
}

/** What may follow: by the commands before it, such as `carrier list`, the subcommands and options. */
type Words = readonly (readonly [after: string, words: string])[]

function wordsOf(command: Command, path: readonly string[] = []): Words {
  const subcommands = command.commands.flatMap((each) => [each.name(), ...each.aliases()])
  const options = command.options.filter(({ hidden }) => !hidden).map(({ long }) => long!)
  const below = command.commands.flatMap((each) =>
    [each.name(), ...each.aliases()].flatMap((name) => wordsOf(each, [...path, name])),
  )
  return [[path.join(' '), [...subcommands, ...options, '--help'].join(' ')], ...below]
}

/**
 * Commands are followed as far as they are known, so values of options and arguments between them do not matter. Options are
 * offered once a dash is typed, and files where no command may follow.
 */
const SCRIPTS = {
  bash: (words: Words) => `${table(words)}
_aldis() {
  local word at='' offered
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ -n $(_aldis_words "\${at:+$at }$word") ]] && at="\${at:+$at }$word"
  done
  offered=" $(_aldis_words "$at")"
  [[ \${COMP_WORDS[COMP_CWORD]} = -* ]] || offered="\${offered%% --*}"
  COMPREPLY=($(compgen -W "$offered" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _aldis aldis
`,
  zsh: (words: Words) => `#compdef aldis
${table(words)}
_aldis() {
  local word at='' offered
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ -n $(_aldis_words "\${at:+$at }$word") ]] && at="\${at:+$at }$word"
  done
  offered=($(_aldis_words "$at"))
  [[ $PREFIX = -* ]] || offered=(\${offered:#-*})
  compadd -a offered || _files
}
[[ $funcstack[1] = _aldis ]] && _aldis "$@" || compdef _aldis aldis
`,
  fish: (words: Words) => `function _aldis_words
  switch "$argv[1]"
${words.map(([after, text]) => `    case '${after}'\n      string split -- ' ' '${text}'`).join('\n')}
  end
end
function _aldis
  set -l at ''
  for word in (commandline -opc)[2..]
    set -l next (string trim -- "$at $word")
    test -n "$(_aldis_words $next)"; and set at $next
  end
  if string match -q -- '-*' (commandline -ct)
    _aldis_words "$at"
  else
    _aldis_words "$at" | string match -v -- '-*'
  end
end
complete -c aldis -f -a '(_aldis)'
complete -c aldis -n 'test -z "$(_aldis)"' -F
`,
}

function table(words: Words): string {
  const cases = words.map(([after, text]) => `    '${after}') echo '${text}' ;;`)
  return `_aldis_words() {\n  case "$1" in\n${cases.join('\n')}\n  esac\n}`
}
