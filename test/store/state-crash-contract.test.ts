/**
 * The state machine of the service keeps the part of its port's contract that speaks of crashes in an install, on real files.
 */
import t from 'tap'
import { stateCrashContract } from '../port-suites/state-crashes.ts'
import { createTenant } from '../state-machine/map-world.ts'
import { levelPlace } from './level-place.ts'

const COMMANDS = ['acme', 'beta', 'gamma'].map(createTenant)

t.test('LevelStateMachine keeps the contract of crashes', (t) => {
  stateCrashContract(t, async (t) => levelPlace(t, COMMANDS))
  t.end()
})
