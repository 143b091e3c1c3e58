/**
 * A LevelStateMachine as a place for the contract of its port.
 *
 * Owns: the translation of the contract's words into commands and directories. A power cut is a copy of the directory.
 */
import assert from 'node:assert/strict'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'
import { SILENT } from '../helpers/loggers.ts'
import { testMetadataKey } from '../helpers/sealed-metadata.ts'
import type { StateMachinePlace } from '../port-suites/state-machine.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { encodeCommand } from '../../src/commands/command-codec.ts'
import { LevelStateMachine } from '../../src/store/apply/level-state-machine.ts'
import { keyBytes } from '../../src/store/rows/row-codec.ts'
import { createTenant } from '../state-machine/map-world.ts'
import { copyOfOpen } from './open-copy.ts'
import { type Teardown, temporaryDirectory } from './store-world.ts'
import { putRow } from '../helpers/database-rows.ts'

/** A third of a block. */
const FILLING_BYTES = 330_000

const fillingName = (i: number): string => `filling-${String(i).padStart(4, '0')}`

export function levelPlace(
  t: Teardown,
  sequence: readonly Command[],
  dir: string = temporaryDirectory(t),
): StateMachinePlace {
  return {
    machine: (options = {}) =>
      new LevelStateMachine({ dir, logger: SILENT, metadataKey: testMetadataKey(), ...options }),
    cut() {
      const copy = temporaryDirectory(t)
      copyOfOpen(dir, copy)
      return levelPlace(t, sequence, copy)
    },
    async damage(machine) {
      assert(machine instanceof LevelStateMachine)
      const { db } = machine.handle.current
      const key = keyBytes(tenantKeys.tenant(fillingName(0)))
      const value = db.getSync(key)
      assert(value !== undefined)
      value[value.length >> 1] = (value[value.length >> 1] ?? 0) ^ 4
      await putRow(db, key, value)
    },
    command: (i) => encodeCommand(sequence[i % sequence.length] ?? createTenant('never')),
    filling: (i) =>
      encodeCommand({ ...createTenant(fillingName(i)), dataKey: Buffer.alloc(FILLING_BYTES, `body ${i}`) }),
    change: (i) =>
      encodeCommand({
        type: 'createBucket',
        tenantId: fillingName(i),
        name: 'extra',
        bucketsMax: 5,
        versioning: 'Unversioned',
        objectLockEnabled: false,
      }),
    failing: () => encodeCommand({ type: 'ofNoVersion' } as never),
    undo: (i) => encodeCommand({ type: 'deleteBucket', tenantId: fillingName(i), name: 'extra' }),
  }
}
