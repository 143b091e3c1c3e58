/**
 * The state machine of the service keeps the part of its port's contract that speaks of snapshots and installs, on real files.
 */
import t from 'tap'
import { stateInstallContract } from '../port-suites/state-installs.ts'
import { createTenant } from '../state-machine/map-world.ts'
import { levelPlace } from './level-place.ts'

/** The second command for a name is refused, and says so in its reply. */
const COMMANDS = ['acme', 'beta', 'gamma', 'delta', 'epsilon'].map(createTenant)

t.test('LevelStateMachine keeps the contract of snapshots and installs', (t) => {
  stateInstallContract(t, async (t) => levelPlace(t, COMMANDS))
  t.end()
})
