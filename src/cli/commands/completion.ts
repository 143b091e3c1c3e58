/**
 * `holdfast completion`: its names, options and help.
 */
import { Argument, Command } from 'commander'
import { completionScript, type Shell, SHELLS } from '../local/completion.ts'
import { EXIT } from '../base/exit.ts'
import { type Done, examples, jsonOption } from './options.ts'

export function completionCommand(done: Done): Command {
  const command = new Command('completion')
  return command
    .description('print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'completion bash > /etc/bash_completion.d/holdfast',
        'completion fish > ~/.config/fish/completions/holdfast.fish',
      ),
    )
    .action((shell: Shell, { json = false }: { json?: boolean }) => {
      const script = completionScript(command.parent ?? command, shell)
      process.stdout.write(json ? `${JSON.stringify({ shell, script })}\n` : script)
      done(EXIT.done)
    })
}
