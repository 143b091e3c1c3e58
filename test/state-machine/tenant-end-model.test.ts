/**
 * Random histories of versions, locks and uploads, then the end of their tenant, by drivers that name random items: locked
 * versions stay whole while they are locked, and without locks nothing is left.
 */
import assert from 'node:assert/strict'
import t from 'tap'
import fc from 'fast-check'
import { versionKeys } from '../../src/state-machine/versions/keys.ts'
import { kindOf } from '../../src/state-machine/base/row-key.ts'
import type { ErasedItem } from '../../src/state-machine/removal/commands.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { ITEMS_PER_COMMAND_MAX } from '../../src/state-machine/base/batch-bound.ts'
import type { BucketRecord } from '../../src/state-machine/buckets/records.ts'
import {
  createBucket,
  createTenant,
  deleteTenant,
  disableTenant,
  MapWorld,
  OPEN_SESSION,
  recounted,
  releaseAll,
  rowsOf,
} from './map-world.ts'
import { isLocked } from './model-bucket.ts'
import { commandOf, type Step, versioningOf } from './versions-commands.ts'
import { VersionsModel } from './versions-model.ts'
import { contentOf, rowOf } from './versions-rows.ts'
import { step } from './versions-steps.ts'

const HOUR_MS = 3_600_000
/** Longer than any retention that a step sets. */
const ALL_OVER_MS = 400 * HOUR_MS

class Ending {
  readonly world = new MapWorld()
  readonly #model = new VersionsModel()

  constructor(history: readonly Step[]) {
    this.world.do(createTenant('acme'))
    this.world.entry([OPEN_SESSION])
    for (const name of ['plain', 'kept', 'locked']) this.#run(createBucket(name, versioningOf(name)))
    for (const one of history) {
      const command = commandOf(one, this.world, this.#model, 0)
      if (command !== null) this.#run(command)
    }
    disableTenant(this.world, 'acme')
    this.world.do(deleteTenant('acme', 'op1'))
  }

  #run(command: Command): void {
    this.#model.take(command, this.world.run(command), this.world.time)
  }

  /** All contents of a bucket, in random order. */
  items(bucketId: string): readonly ErasedItem[] {
    return [...this.world.rows.keys()].flatMap((row): readonly ErasedItem[] => {
      const [, owner, kind, key = '', id = ''] = row.split('\u0000')
      if (owner !== bucketId) return []
      const version = this.world.rows.get(row)
      switch (kind) {
        case 'object':
        case 'version':
          return version !== undefined && 'versionId' in version
            ? [{ kind: 'version', key, versionId: version.versionId as string }]
            : []
        case 'upload':
        case 'completed':
          return [{ kind, key, uploadId: id }]
        case 'idempotency':
          return [{ kind, key, name: id }]
        default:
          return []
      }
    })
  }

  get buckets(): readonly BucketRecord[] {
    return rowsOf<BucketRecord>(this.world, 'bucket')
  }

  erase(bucket: string, items: readonly ErasedItem[]): boolean {
    const step = { kind: 'content', bucket, items } as const
    const reply = this.world.run({ type: 'eraseTenant', tenantId: 'acme', operationId: 'op1', step })
    return reply.ok
  }

  /** Erases one by one until only locked versions are left. */
  eraseAll(): void {
    for (const { id, name } of this.buckets) {
      for (const item of this.items(id)) this.erase(name, [item])
      this.world.run({
        type: 'eraseTenant',
        tenantId: 'acme',
        operationId: 'op1',
        step: { kind: 'bucket', bucket: name },
      })
    }
  }

  /** According to the answers that users got before the tenant was disabled. */
  get locked() {
    const { time } = this.world
    return [...this.#model.buckets.values()].flatMap(({ id: bucketId, keys: all }) =>
      [...all].flatMap(([key, versions]) =>
        versions
          .filter((version) => isLocked(version, time))
          .map(({ id, content }) => ({ bucketId, key, id, content })),
      ),
    )
  }

  checkLocked(): void {
    for (const { bucketId, key, id, content } of this.locked) {
      const row = rowOf(this.world, bucketId, key, id)
      assert(row !== undefined, `version ${id} of ${key} is locked and gone`)
      assert.deepEqual(contentOf(this.world, bucketId, row), content)
      assert(
        this.world.get(versionKeys.lockedVersion(bucketId, key, id)) !== undefined,
        'and is in the index',
      )
    }
  }
}

const LOCKING = ['putObject', 'setObjectRetention', 'setObjectLegalHold'] as const
/** At the end of a history, so that locks exist when the tenant is disabled. */
const lockingStep = fc
  .tuple(step, fc.constantFrom(...LOCKING))
  .map(([one, op]): Step => ({ ...one, op, bucket: 'locked' }))

/** Random items of any bucket, several at once, some twice. */
const guess = fc.record({ bucket: fc.nat(), picks: fc.array(fc.nat(), { minLength: 1, maxLength: 5 }) })

t.test('the end of a tenant removes no locked version, and without locks it removes everything', (t) => {
  let [ended, kept, gated] = [0, 0, 0]
  const history = fc
    .tuple(fc.array(step, { maxLength: 40, size: 'max' }), fc.array(lockingStep, { maxLength: 6 }))
    .map(([any, locking]) => [...any, ...locking])
  fc.assert(
    fc.property(history, fc.array(guess, { maxLength: 20 }), (steps, guesses) => {
      const ending = new Ending(steps)
      const { world } = ending
      for (const { bucket, picks } of guesses) {
        const target = ending.buckets[bucket % Math.max(1, ending.buckets.length)]
        const items = target === undefined ? [] : ending.items(target.id)
        if (target === undefined || items.length === 0) continue
        const named = picks.map((pick) => items[pick % items.length]).filter((item) => item !== undefined)
        assert(named.length <= ITEMS_PER_COMMAND_MAX)
        ending.erase(target.name, named)
        ending.checkLocked()
      }
      ending.eraseAll()
      ending.checkLocked()
      assert.deepEqual(recounted(world), [])
      const left = rowsOf(world, 'object').length + rowsOf(world, 'version').length
      const { length: locked } = ending.locked
      // A delete marker above or below a locked version is not locked.
      assert.equal(left, locked)
      const shred = { type: 'shredTenant', tenantId: 'acme', operationId: 'op1' } as const
      if (locked > 0) gated++
      assert.equal(world.run(shred).ok, locked === 0)
      world.time += ALL_OVER_MS
      ending.eraseAll()
      ending.checkLocked()
      const isHeld = ending.locked.length > 0
      assert.equal(world.run(shred).ok, !isHeld)
      releaseAll(world)
      assert.deepEqual(recounted(world), [])
      if (!isHeld) assert.ok(![...world.rows.keys()].some((key) => key.startsWith('in\u0000')))
      if (!isHeld) assert.ok(![...world.rows.keys()].some((key) => kindOf(key) === 'expiry'))
      if (isHeld) kept++
      else ended++
    }),
    { seed: 17, numRuns: 120 },
  )
  t.ok(gated > 30 && kept > 10 && ended > 50, `${gated} gated, ${kept} permanent, ${ended} ended`)
  t.end()
})
