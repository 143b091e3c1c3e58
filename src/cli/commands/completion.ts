/**
 * `holdfast completion` and `complete`: their names, options and help.
 */
import { Argument, Command } from 'commander'
import { completionScript, type Shell, SHELLS } from '../local/completion.ts'
import { EXIT } from '../base/exit.ts'
import type { CompleteOptions } from '../objects/complete-command.ts'
import { type Done, examples, jsonLinesOption, jsonOption, withDataAccess } from './options.ts'

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

export function completeCommand(done: Done): Command {
  return withDataAccess(new Command('complete'))
    .description('print the buckets, folders and objects that begin with a word; completion scripts call it')
    .argument('<word>', 'the beginning of bucket/key; it may be empty')
    .addOption(jsonLinesOption())
    .addHelpText('after', examples('complete photos/20'))
    .action(async (word: string, options: CompleteOptions) => {
      const { complete } = await import('../objects/complete-command.ts')
      done(await complete(word, options))
    })
}
