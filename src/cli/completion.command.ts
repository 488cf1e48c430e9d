import { Argument, Command } from 'commander';
import { print } from './print.js';

const ZSH = 'autoload -Uz compinit bashcompinit && compinit && bashcompinit';

export function completionCommand(program: Command): Command {
  return new Command('completion')
    .description('print a completion script, for `source <(pv-onboarding completion bash)`')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh']))
    .action((shell: string) => {
      if (shell === 'zsh') print(ZSH);
      print('_pv_onboarding() {');
      print('  local words');
      // The words before the cursor, each between blanks. Subcommands come before their command, so the longest match is first.
      print('  case " ${COMP_WORDS[*]:1:$COMP_CWORD-1} " in');
      for (const [pattern, words] of wordsAfter(program, ''))
        print(`    ${pattern}) words="${words.join(' ')}" ;;`);
      print('  esac');
      print('  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))');
      print('}');
      print('complete -o default -F _pv_onboarding pv-onboarding');
    });
}

/** Returns what may follow each option with choices, and each command: its subcommands, the choices of its arguments, and its options. */
function wordsAfter(command: Command, path: string): [pattern: string, words: string[]][] {
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
  const names = command.commands.map((sub) => sub.name());
  const options = command.options.flatMap(({ long }) => long ?? []);
  return [
    ...command.commands.flatMap((sub) => wordsAfter(sub, `${path} ${sub.name()}`)),
    ...command.options.flatMap(({ long, argChoices = [] }): [string, string[]][] =>
      argChoices.length > 0 ? [[`"${path} "*"${long} "`, argChoices]] : [],
    ),
    [`"${path} "*`, [...names, ...choices, ...options, '--help']],
  ];
}
