/**
 * The in-memory state machine of the tests fulfills the contract of its port, so tests over it are valid.
 * The one of the service: test/store/state-machine-contract.test.ts.
 */
import t from 'tap'
import { stateCrashContract } from '../port-suites/state-crashes.ts'
import { stateInstallContract } from '../port-suites/state-installs.ts'
import { stateMachineContract, type StateMachinePlace } from '../port-suites/state-machine.ts'
import { command, MemoryState, MemoryStateMachine } from '../helpers/memory-state-machine.ts'

const FILLING_BYTES = 330

function memoryPlace(state: MemoryState): StateMachinePlace {
  return {
    machine: (options = {}) => new MemoryStateMachine(state, options),
    cut: () => memoryPlace(state.copy()),
    async damage() {
      state.damage = 'a bit of a row is flipped'
    },
    command: (i) => command(`append ${i}`),
    filling: (i) => command(`set filling-${String(i).padStart(4, '0')} ${String(i).repeat(FILLING_BYTES)}`),
    change: (i) => command(`set filling-${String(i).padStart(4, '0')}-extra x`),
    failing: () => command('poison'),
    undo: (i) => command(`remove filling-${String(i).padStart(4, '0')}-extra`),
  }
}

t.test('MemoryStateMachine', (t) => {
  stateMachineContract(t, async () => memoryPlace(new MemoryState()))
  stateInstallContract(t, async () => memoryPlace(new MemoryState()))
  stateCrashContract(t, async () => memoryPlace(new MemoryState()))
  t.end()
})
