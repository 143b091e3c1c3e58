/**
 * Puts the store together: the state machine that writes, and the reader over the same state.
 *
 * Owns: the composition. Rule: nothing is on disk and nothing can be read before stateMachine.open(), which the machine calls.
 */
import { LevelStateMachine, type LevelStateMachineOptions } from './apply/level-state-machine.ts'
import { LevelStateReader } from './reads/level-state-reader.ts'

export interface Store {
  readonly stateMachine: LevelStateMachine
  readonly reader: LevelStateReader
}

export function openStore(options: LevelStateMachineOptions): Store {
  const stateMachine = new LevelStateMachine(options)
  return { stateMachine, reader: new LevelStateReader(stateMachine.handle) }
}
