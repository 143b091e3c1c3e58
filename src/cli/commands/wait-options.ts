/**
 * Options of commands that start a long operation.
 */
import type { Command } from 'commander'
import { noProgressOption } from './objects.ts'

export function withWait(command: Command): Command {
  return command
    .option('--wait', 'wait until it has ended, with a progress bar on a terminal and lines elsewhere')
    .addOption(noProgressOption())
}
