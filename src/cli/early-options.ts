/**
 * Options of all commands that are typed before the command: `holdfast --json ls`, `holdfast bucket --json get photos`.
 *
 * Owns: where they belong; pure. Rule: what stands behind the first word that is no command stays where it is.
 */
import type { Command } from 'commander'

/** With the count of values that each takes. */
const EARLY: Readonly<Record<string, number>> = { '--json': 0, '--profile': 1 }

/** The same words, with these options directly behind the words of the command. */
export function withEarlyOptions(program: Command, typed: readonly string[]): readonly string[] {
  const moved: string[] = []
  const path: string[] = []
  let command = program
  let at = 0
  while (at < typed.length) {
    const word = typed[at] ?? ''
    const values = EARLY[word.replace(/=.*$/, '')]
    const inner = command.commands.find((one) => one.name() === word)
    if (inner !== undefined) {
      path.push(word)
      command = inner
      at += 1
    } else if (values !== undefined) {
      const width = word.includes('=') ? 1 : 1 + values
      moved.push(...typed.slice(at, at + width))
      at += width
    } else break
  }
  return [...path, ...moved, ...typed.slice(at)]
}
