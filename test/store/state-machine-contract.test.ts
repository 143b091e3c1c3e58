/**
 * The state machine of the service keeps the contract of its port, on real files.
 */
import t from 'tap'
import type { Command } from '../../src/state-machine/commands.ts'
import { crossedPlace } from '../helpers/crossed-state-machine.ts'
import { stateMachineContract } from '../port-suites/state-machine.ts'
import { createTenant, put } from '../state-machine/map-world.ts'
import { levelPlace } from './level-place.ts'

/** Each answer depends on how often and after what it is asked. */
const COMMANDS: readonly Command[] = [
  createTenant('acme'),
  {
    type: 'createBucket',
    tenantId: 'acme',
    name: 'photos',
    bucketsMax: 5,
    versioning: 'Unversioned',
    objectLockEnabled: false,
  },
  put('k', { kind: 'inline', chunkId: 'c', sealed: Uint8Array.of(1, 2, 3) }, 3),
  {
    type: 'createTenant',
    id: 'beta',
    name: 'Beta',
    dataKey: Uint8Array.of(1),
    dedupKey: Uint8Array.of(2),
    masterKeyId: 'm',
  },
  { type: 'deleteObject', tenantId: 'acme', bucket: 'photos', key: 'k', versionId: null, ifMatch: null },
]

t.test('LevelStateMachine keeps it across threads, where only clones of plain data arrive', (t) => {
  stateMachineContract(t, async (t) => crossedPlace(levelPlace(t, COMMANDS)))
  t.end()
})

t.test('LevelStateMachine keeps the contract of StateMachine', (t) => {
  stateMachineContract(t, async (t) => levelPlace(t, COMMANDS))
  t.end()
})
