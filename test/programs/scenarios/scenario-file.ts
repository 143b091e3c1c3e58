/**
 * A scenario as a text file: its rule, then commands and their expected output.
 *
 * Owns: the format of the text files and the place of every command in them. Knows nothing of: what commands mean.
 * Rule: a file that was read and rewritten is equal except for its traces.
 *
 * Layout: comment lines that begin with `#`, then blocks. A block is one or more command lines, a line `----` and the
 * trace, which ends at the first empty line. Comment lines may precede the commands of any block.
 */
export class ScenarioError extends Error {
  override readonly name = 'ScenarioError'

  constructor(place: Place, message: string, options?: ErrorOptions) {
    super(`${place.path}:${place.line}: ${message}`, options)
  }
}

export interface Place {
  readonly path: string
  /** Counted from 1. */
  readonly line: number
}

export interface Command {
  readonly place: Place
  readonly text: string
}

export interface Block {
  readonly place: Place
  /** The lines above the commands, `#` included. */
  readonly comments: readonly string[]
  readonly commands: readonly Command[]
  readonly trace: readonly string[]
}

export interface ScenarioFile {
  readonly path: string
  /** The comment that opens the file: the rule it shows and where the rule comes from. */
  readonly header: readonly string[]
  readonly blocks: readonly Block[]
}

const SEPARATOR = '----'

export function parseScenario(path: string, text: string): ScenarioFile {
  const paragraphs = paragraphsOf(path, text)
  const [first, ...rest] = paragraphs
  if (first === undefined || !first.lines.every((line) => line.startsWith('#'))) {
    throw new ScenarioError(
      { path, line: 1 },
      'a scenario opens with lines of # that say which rule it shows',
    )
  }
  if (rest.length === 0) throw new ScenarioError({ path, line: 1 }, 'the scenario has no commands')
  return { path, header: first.lines, blocks: rest.map(parseBlock) }
}

/** A scenario without expectations proves nothing. */
export function assertTraces({ blocks }: ScenarioFile): void {
  for (const { place, trace } of blocks) {
    if (trace.length === 0)
      throw new ScenarioError(place, `no trace follows the ${SEPARATOR}; HOLDFAST_REWRITE=1 writes it`)
  }
}

/** The text of the file with these traces in place of its own, block by block. */
export function formatScenario(file: ScenarioFile, traces: readonly (readonly string[])[]): string {
  const blocks = file.blocks.map(({ comments, commands }, i) =>
    [...comments, ...commands.map(({ text }) => text), SEPARATOR, ...(traces[i] ?? [])].join('\n'),
  )
  return `${[file.header.join('\n'), ...blocks].join('\n\n')}\n`
}

interface Paragraph {
  readonly place: Place
  readonly lines: readonly string[]
}

function paragraphsOf(path: string, text: string): readonly Paragraph[] {
  const paragraphs: { place: Place; lines: string[] }[] = []
  let isOpen = false
  for (const [i, line] of text.split('\n').entries()) {
    const isEmpty = line.trim() === ''
    if (!isEmpty && !isOpen) paragraphs.push({ place: { path, line: i + 1 }, lines: [] })
    if (!isEmpty) paragraphs.at(-1)?.lines.push(line.trimEnd())
    isOpen = !isEmpty
  }
  return paragraphs
}

function parseBlock({ place, lines }: Paragraph): Block {
  const end = lines.indexOf(SEPARATOR)
  if (end < 0) {
    throw new ScenarioError(place, `a block needs a line ${SEPARATOR} between its commands and their trace`)
  }
  const before = lines.slice(0, end).map((text, i) => ({ text, place: { ...place, line: place.line + i } }))
  const commands = before.filter(({ text }) => !text.startsWith('#'))
  if (commands.length === 0) throw new ScenarioError(place, `no command stands before the ${SEPARATOR}`)
  return {
    place: { ...place, line: place.line + end },
    comments: before.filter(({ text }) => text.startsWith('#')).map(({ text }) => text),
    commands,
    trace: lines.slice(end + 1),
  }
}
