/**
 * Random histories of versions, locks, copies, uploads and quotas against a model of what users see; after every entry
 * the rows agree with it, no locked version is gone, and at rest no bytes are left without an owner.
 */
import assert from 'node:assert/strict'
import t from 'tap'
import fc from 'fast-check'
import { versionKeys } from '../../src/state-machine/versions/keys.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { checkSeals } from './exchange-steps.ts'
import { changedKeys, checkKept } from './kept-bodies.ts'
import { createBucket, createTenant, MapWorld, OPEN_SESSION, recounted, releaseAll } from './map-world.ts'
import { isLocked, type ModelVersion } from './model-bucket.ts'
import { commandOf, type Step, versioningOf } from './versions-commands.ts'
import { VersionsModel } from './versions-model.ts'
import { checkOwners, checkRows, contentOf, rowOf } from './versions-rows.ts'
import { step } from './versions-steps.ts'

const HOUR_MS = 3_600_000
const PASSES = [1, 3, 25, 170]

class Comparison {
  readonly world = new MapWorld()
  readonly model = new VersionsModel()
  #entries = 0

  constructor() {
    this.world.do(createTenant('acme'))
    this.world.entry([OPEN_SESSION])
    for (const name of ['plain', 'kept', 'locked']) this.#run([createBucket(name, versioningOf(name))])
  }

  entry(steps: readonly Step[]): void {
    for (const step of steps) {
      if (step.op === 'pass') this.world.time += (PASSES[step.more % 4] ?? 1) * HOUR_MS
      if (step.op === 'damage') this.#damage(step)
    }
    const commands = steps.map((step, n) => commandOf(step, this.world, this.model, n))
    this.#run(commands.filter((command) => command !== null))
  }

  /** No discarded body is left, and no upload is in progress. */
  rest(): void {
    releaseAll(this.world)
    assert.deepEqual(recounted(this.world), [])
    checkOwners(this.world)
  }

  #run(commands: readonly Command[]): void {
    if (commands.length === 0) return
    const { world, model } = this
    const locked = lockedIn(model, world.time + 7, commands)
    const before = new Map(world.rows)
    const replies = world.entry(commands)
    checkKept({ before, changed: changedKeys(before, world.rows), commands })
    checkSeals(world)
    commands.forEach((command, n) => {
      const reply = replies[n]
      assert(reply !== undefined)
      model.take(command, reply, world.time)
    })
    for (const { bucketId, key, id, content } of locked) {
      const row = rowOf(world, bucketId, key, id)
      assert(row !== undefined, `version ${id} of ${key} is locked and gone`)
      assert.deepEqual(contentOf(world, bucketId, row), content)
    }
    checkRows(world, new Map([['acme', model]]))
    if (++this.#entries % 8 === 0) assert.deepEqual(recounted(world), [])
  }

  #damage({ bucket: name, key, pick, more }: Step): void {
    const bucket = this.world.get(bucketKeys.bucket('acme', name))
    const versions = this.model.buckets.get(name)?.keys.get(key) ?? []
    const version = versions[pick % Math.max(1, versions.length)]
    if (bucket === undefined || version === undefined || version.isMarker) return
    const found = rowOf(this.world, bucket.id, key, version.id)
    assert(found !== undefined)
    if (more % 3 === 0) version.legalHold = 'ON' as never
    else version.retention = UNREADABLE[more % UNREADABLE.length] as ModelVersion['retention']
    const { retention, legalHold } = version
    const isCurrent = found.newer === null
    const row = isCurrent
      ? versionKeys.object(bucket.id, key)
      : versionKeys.version(bucket.id, key, version.id)
    this.world.rows.set(row, { ...found, retention, legalHold })
    this.world.rows.set(versionKeys.lockedVersion(bucket.id, key, version.id), { key, versionId: version.id })
  }
}

const UNREADABLE: readonly unknown[] = [
  { mode: 'GOVERNANCE' },
  { mode: 'COMPLIANCE', until: 'soon' },
  { mode: 'NONE', until: 1 },
  { mode: 'GOVERNANCE', until: -5 },
  { mode: 'GOVERNANCE', until: Number.NaN },
]

/** Versions that no command of an entry may remove; one of the commands may take off a legal hold, or set GOVERNANCE aside. */
function lockedIn({ buckets }: VersionsModel, time: number, commands: readonly Command[]) {
  const isHoldOff = commands.some(({ type }) => type === 'setObjectLegalHold')
  const bypass = commands.some((command) => 'bypassGovernance' in command) ? true : undefined
  const isKept = (version: ModelVersion) =>
    isLocked(isHoldOff ? { ...version, legalHold: false } : version, time, bypass)
  return [...buckets.values()].flatMap(({ id: bucketId, keys }) =>
    [...keys].flatMap(([key, versions]) =>
      versions.filter(isKept).map(({ id, content }) => ({ bucketId, key, id, content })),
    ),
  )
}

t.test('versions agree with what users see after any history', (t) => {
  const entry = fc.array(step, { minLength: 1, maxLength: 3 })
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 60, size: 'max' }), (history) => {
      const comparison = new Comparison()
      for (const steps of history) comparison.entry(steps)
      comparison.rest()
    }),
    { seed: 31, numRuns: 150 },
  )
  t.end()
})
