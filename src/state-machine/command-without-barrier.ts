/**
 * Which commands may rest on a basis instead of a read barrier. [record 66]
 *
 * Rule: all that such a command asks of the state is decided when it is applied. Whether a lock may be set aside without a second approval the gateway asks
 * of its own rows, so a command that does so rests on a barrier.
 */
import type { Command } from './commands.ts'

type CommandWithoutBarrier = Extract<Command, { type: 'putObject' | 'deleteObject' }>

export function mayOmitBarrier(command: Command): command is CommandWithoutBarrier {
  if (command.type !== 'putObject' && command.type !== 'deleteObject') return false
  return !('bypassGovernance' in command) && !('approval' in command)
}
