import t from 'tap'
import { SILENT } from '../helpers/loggers.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { encodeCommand } from '../../src/store/command-codec.ts'
import { LevelStateMachine } from '../../src/store/level-state-machine.ts'
import { stateMachineContract } from '../contracts/state-machine.ts'
import { createTenant, put } from '../state-machine/map-world.ts'
import { temporaryDirectory } from './store-world.ts'

/** Each answer depends on how often and after what it is asked. */
const COMMANDS: readonly Command[] = [
  createTenant('acme'),
  { type: 'createBucket', tenantId: 'acme', name: 'photos', bucketsMax: 5 },
  put('k', { kind: 'inline', chunkId: 'c', sealed: Uint8Array.of(1, 2, 3) }, 3),
  {
    type: 'createTenant',
    id: 'beta',
    name: 'Beta',
    dataKey: Uint8Array.of(1),
    dedupKey: Uint8Array.of(2),
    masterKeyId: 'm',
  },
  { type: 'deleteObject', tenantId: 'acme', bucket: 'photos', key: 'k' },
]

t.test('LevelStateMachine keeps the contract of StateMachine', (t) => {
  stateMachineContract(t, async (t) => {
    const dir = temporaryDirectory(t)
    return {
      machine: () => new LevelStateMachine({ dir, logger: SILENT }),
      command: (i) => encodeCommand(COMMANDS[i % COMMANDS.length] ?? createTenant('never')),
    }
  })
  t.end()
})
