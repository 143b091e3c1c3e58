/**
 * Options of commands that begin a long operation.
 */
import type { Command } from 'commander'
import { noProgressOption } from './objects.ts'

export function withWait(command: Command): Command {
  return command
    .option('--wait', 'until it has ended, with a bar on a terminal and lines elsewhere')
    .addOption(noProgressOption())
}
