/**
 * The state machines under the machine keep the contract of its port: the one of the service, and the one of these tests.
 */
import t from 'tap'
import { openStore } from '../../src/store/open-store.ts'
import { encodeCommand } from '../../src/store/command-codec.ts'
import { stateMachineContract } from '../contracts/state-machine.ts'
import { command, MemoryState, MemoryStateMachine } from '../helpers/memory-state-machine.ts'
import { SILENT } from '../helpers/loggers.ts'
import { createTenant } from '../state-machine/map-world.ts'
import { temporaryDirectory } from '../store/store-world.ts'

t.test('MemoryStateMachine', async (t) => {
  stateMachineContract(t, async () => {
    const state = new MemoryState()
    return { machine: () => new MemoryStateMachine(state), command: (i) => command(`append ${i}`) }
  })
})

t.test('LevelStateMachine', async (t) => {
  stateMachineContract(t, async (t) => {
    const dir = temporaryDirectory(t)
    return {
      machine: () => openStore({ dir, logger: SILENT }).stateMachine,
      // Few names: the second command for a name is refused, and says so in its reply.
      command: (i) => encodeCommand(createTenant(`tenant-${i % 5}`)),
    }
  })
})
