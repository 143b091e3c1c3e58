/**
 * The reference of the command line as pages, from the program itself: an overview, and one page for each command with those below it.
 *
 * Rule: names, options and examples are those of `--help`; nothing is added by hand.
 */
import type { Argument, Command, Help, Option } from 'commander'
import { programOf } from '../../src/cli/program.ts'
import { code, escaped, type PageContent, PageWriter, table } from './html.ts'

const FOLDER = 'commands'

/** Path in the site -> page. */
export function commandPages(): ReadonlyMap<string, PageContent> {
  const program = programOf(() => undefined)
  const help = program.createHelp()
  const commands = help.visibleCommands(program).filter((command) => command.name() !== 'help')
  const pages = new Map<string, PageContent>()
  pages.set(`${FOLDER}/index.html`, overview(help, commands))
  for (const command of commands) pages.set(`${FOLDER}/${command.name()}.html`, commandPage(help, command))
  return pages
}

function overview(help: Help, commands: readonly Command[]): PageContent {
  const writer = new PageWriter('Command reference')
  writer.add(
    `<p>The same is printed by ${code('holdfast --help')} and ${code('holdfast <command> --help')}. How the commands work together: <a href="../guide/command-line.html">the command line</a>.</p>`,
  )
  const groups = new Set(commands.map((command) => command.helpGroup()))
  for (const group of groups) {
    const members = commands.filter((command) => command.helpGroup() === group)
    writer.heading(2, group?.replace(/:$/, '') ?? 'Commands')
    const rows = members.map((command) => [
      `<a href="${escaped(command.name())}.html">${code(command.name())}</a>`,
      escaped(help.subcommandDescription(command)),
    ])
    writer.add(table(['command', 'what it does'], rows))
  }
  return writer.content()
}

function commandPage(help: Help, command: Command): PageContent {
  const writer = new PageWriter(`holdfast ${command.name()}`)
  describe(writer, help, command)
  writeBelow(writer, help, command, `holdfast ${command.name()}`)
  return writer.content()
}

function writeBelow(writer: PageWriter, help: Help, command: Command, above: string): void {
  for (const below of help.visibleCommands(command)) {
    if (below.name() === 'help') continue
    const name = `${above} ${below.name()}`
    writer.heading(2, name)
    describe(writer, help, below)
    writeBelow(writer, help, below, name)
  }
}

function describe(writer: PageWriter, help: Help, command: Command): void {
  writer.add(`<pre><code>${escaped(help.commandUsage(command))}\n</code></pre>`)
  const what = help.commandDescription(command)
  writer.add(`<p>${escaped(what)}</p>`, what)
  const takes: readonly Argument[] = help.visibleArguments(command)
  if (takes.length > 0)
    writer.add(
      table(
        ['argument', 'meaning'],
        takes.map((one) => [code(help.argumentTerm(one)), escaped(help.argumentDescription(one))]),
      ),
    )
  const options: readonly Option[] = help.visibleOptions(command)
  writer.add(
    table(
      ['option', 'meaning'],
      options.map((one) => [code(help.optionTerm(one)), escaped(help.optionDescription(one))]),
    ),
    options.map(({ flags }) => flags).join(' '),
  )
  const further = textAfter(command)
  if (further !== '') writer.add(`<pre><code>${escaped(further)}\n</code></pre>`, further)
}

/** What the command prints below its options: examples for most. */
function textAfter(command: Command): string {
  const printed: string[] = []
  command.configureOutput({ writeOut: (text) => void printed.push(text) })
  command.outputHelp()
  const [, after = ''] = printed.join('').split(command.helpInformation())
  return after.trim()
}
