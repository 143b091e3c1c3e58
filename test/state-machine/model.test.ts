/**
 * Random histories of buckets, objects, chunks and replicas against a model that keeps only what users can see;
 * everything counted is recomputed from the rows after every entry.
 */
import assert from 'node:assert/strict'
import t from 'tap'
import fc from 'fast-check'
import { versionKeys } from '../../src/state-machine/versions/keys.ts'
import { usageKeys } from '../../src/state-machine/usage/keys.ts'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'
import { longOperationKeys } from '../../src/state-machine/long-operations/keys.ts'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { kindOf } from '../../src/state-machine/base/row-key.ts'
import type {
  DiscardedBodyRecord,
  InlineBodyRecord,
  ManifestPageRecord,
} from '../../src/state-machine/bodies/records.ts'
import type { BucketRecord } from '../../src/state-machine/buckets/records.ts'
import type { ChunkUse } from '../../src/state-machine/chunks/commands.ts'
import type { ChunkRecord, DropRecord, RepairRecord } from '../../src/state-machine/chunks/records.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import type { ObjectRecord } from '../../src/state-machine/versions/records.ts'
import { birthOf } from '../../src/state-machine/chunks/births.ts'
import { taskKey } from '../../src/state-machine/chunks/chunk-rows.ts'
import { metadataIn, rowsOf } from './metadata-model.ts'
import { NO_USAGE } from '../../src/state-machine/usage/usage.ts'
import {
  addCopy,
  createBucket,
  createTenant,
  found,
  fresh,
  MapWorld,
  OPEN_SESSION,
  put,
  putChunks,
  releaseAll,
  startOperation,
} from './map-world.ts'

type Step =
  | {
      readonly do: 'createBucket' | 'deleteBucket' | 'setCors' | 'removeCors' | PolicyStep
      readonly bucket: string
    }
  | { readonly do: 'putEmpty' | 'putInline' | 'delete'; readonly bucket: string; readonly key: string }
  | { readonly do: 'putChunks'; readonly bucket: string; readonly key: string; readonly uses: readonly Use[] }
  | { readonly do: CopyStep; readonly chunk: string; readonly node: string }

type PolicyStep = 'setBucketPolicy' | 'deleteBucketPolicy'
const REPORTS = ['addReplica', 'addReplicas', 'dropReplicas', 'dropsDone'] as const
const PLANS = ['planCopies', 'endTasks', 'collectChunks'] as const
type CopyStep = (typeof REPORTS | typeof PLANS)[number]

interface Use {
  readonly chunk: string
  readonly existing: boolean
  /** For an existing chunk: the gateway read its row long ago. */
  readonly stale: boolean
  readonly missing: readonly string[]
}

const bucket = fc.constantFrom('photos', 'films')
const key = fc.constantFrom('a', 'b/c', '😀')
const chunk = fc.constantFrom('c1', 'c2', 'c3', 'c4')
const node = fc.constantFrom('n1', 'n2', 'n3')
const use: fc.Arbitrary<Use> = fc.record({
  chunk,
  existing: fc.boolean(),
  stale: fc.boolean(),
  missing: fc.constantFrom([], ['n3']),
})
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant('createBucket'), bucket }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('deleteBucket'), bucket }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('setCors', 'removeCors'), bucket }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom<PolicyStep>('setBucketPolicy', 'deleteBucketPolicy'),
      bucket,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('putEmpty', 'putInline', 'delete'), bucket, key }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('putChunks'),
      bucket,
      key,
      uses: fc.array(use, { minLength: 1, maxLength: 5 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom<CopyStep>(...REPORTS, ...PLANS),
      chunk,
      node,
    }),
  },
)

/** Reads the rows like a node that has applied all entries before this one. */
function commandOf(step: Step, world: MapWorld, ordinal: number): Command {
  if ('chunk' in step) return copyCommand(step, world)
  switch (step.do) {
    case 'createBucket':
    case 'deleteBucket':
      return step.do === 'createBucket'
        ? createBucket(step.bucket)
        : { type: 'deleteBucket', tenantId: 'acme', name: step.bucket }
    case 'setBucketPolicy':
      return { type: step.do, tenantId: 'acme', name: step.bucket, policy: `{"n":${world.index}}` }
    case 'deleteBucketPolicy':
      return { type: step.do, tenantId: 'acme', name: step.bucket }
    case 'setCors':
      return { type: 'setBucketCors', tenantId: 'acme', name: step.bucket, rules: [] }
    case 'removeCors':
      return { type: 'deleteBucketCors', tenantId: 'acme', name: step.bucket }
    case 'putEmpty':
      return { ...put(step.key, { kind: 'empty' }, 0), bucket: step.bucket }
    case 'putInline':
      return {
        ...put(step.key, { kind: 'inline', chunkId: 'ci', sealed: Uint8Array.of(1) }, 7),
        bucket: step.bucket,
      }
    case 'delete':
      return {
        type: 'deleteObject',
        tenantId: 'acme',
        bucket: step.bucket,
        key: step.key,
        versionId: null,
        ifMatch: null,
      }
    case 'putChunks':
      return {
        ...putChunks(
          step.key,
          step.uses.map((use, i) => chunkUse(use, world, world.index * 100 + ordinal * 10 + i)),
        ),
        bucket: step.bucket,
      }
  }
}

function copyCommand(step: Extract<Step, { do: CopyStep }>, world: MapWorld): Command {
  const { chunk: chunkId, node } = step
  const row = world.get(chunkKeys.chunk('acme', chunkId))
  const name = { tenantId: 'acme', chunkId, birth: row?.birth ?? 'birth-0' }
  switch (step.do) {
    case 'addReplica':
      return addCopy(world, chunkId, node, name.birth)
    case 'addReplicas': {
      const copies = rowsOf<RepairRecord>(world, 'repair')
        .filter(({ target }) => target === node)
        .map(({ tenantId, chunkId: id, birth, permit }) => ({ tenantId, chunkId: id, birth, permit }))
      return { type: 'addReplicas', node, copies: [{ ...name, permit: 0 }, ...copies] }
    }
    case 'dropReplicas':
      return { type: 'dropReplicas', node, copies: [name], operation: null }
    case 'planCopies': {
      const replaces = row?.replicas[0] ?? null
      return {
        type: 'planCopies',
        operation: 'op',
        moves: [{ ...name, target: node, replaces, copiesKept: 2 }],
      }
    }
    case 'endTasks':
      return { type: 'endTasks', operation: 'op', tasks: [{ ...name, target: node }] }
    case 'collectChunks':
      return { type: 'collectChunks', chunks: [{ ...name, condemnedAt: row?.condemnedAt ?? 0 }] }
    case 'dropsDone': {
      const drops = rowsOf<DropRecord>(world, 'drop').filter((drop) => drop.node === node)
      return { type: 'dropsDone', node, names: [...drops, { id: 'none', birth: 'none' }] }
    }
  }
}

function chunkUse({ chunk, existing, stale, missing }: Use, world: MapWorld, sequence: number): ChunkUse {
  const row = world.get(chunkKeys.chunk('acme', chunk))
  if (existing) return found(chunk, { birth: stale ? 'birth-0' : (row?.birth ?? 'birth-0') })
  return fresh(chunk, { birth: birthOf('birth', sequence), missing })
}

/** What a user would expect to see: sizes by bucket and key. */
class Model {
  readonly buckets = new Map<string, Map<string, number>>()
  /** Names of the buckets that have a policy. */
  readonly policies = new Set<string>()
  /** Buckets with CORS rules. */
  readonly cors = new Set<string>()

  /** Returns whether the step must succeed; null when only the chunks decide. */
  expects(step: Step): boolean | null {
    if ('chunk' in step) return null
    const held = this.buckets.get(step.bucket)
    if (step.do === 'createBucket') return held === undefined
    if (held === undefined) return false
    if (step.do === 'deleteBucket') return held.size === 0
    return step.do === 'putChunks' ? null : true
  }

  take(step: Step): void {
    if ('chunk' in step) return
    if (step.do === 'deleteBucket' || step.do === 'deleteBucketPolicy') this.policies.delete(step.bucket)
    if (step.do === 'createBucket') this.buckets.set(step.bucket, new Map())
    else if (step.do === 'deleteBucket') this.buckets.delete(step.bucket)
    else if (step.do === 'setBucketPolicy') this.policies.add(step.bucket)
    else if (step.do === 'setCors') this.cors.add(step.bucket)
    if (step.do === 'deleteBucket' || step.do === 'removeCors') this.cors.delete(step.bucket)
    if (step.do === 'delete') this.buckets.get(step.bucket)?.delete(step.key)
    else if ('key' in step) this.buckets.get(step.bucket)?.set(step.key, sizeOf(step))
  }
}

function sizeOf(step: Step): number {
  if (step.do === 'putChunks') return step.uses.length * 10
  return step.do === 'putInline' ? 7 : 0
}

function checkAgainstModel(world: MapWorld, model: Model): void {
  const buckets = rowsOf<BucketRecord>(world, 'bucket')
  assert.equal(world.get(tenantKeys.tenant('acme'))?.bucketCount, model.buckets.size)
  assert.deepEqual(new Set(buckets.map(({ name }) => name)), new Set(model.buckets.keys()))
  const withPolicy = buckets.filter(({ id }) => world.get(bucketKeys.bucketPolicy(id)) !== undefined)
  assert.deepEqual(new Set(withPolicy.map(({ name }) => name)), model.policies)
  assert.equal(rowsOf(world, 'bucketPolicy').length, model.policies.size, 'no policy outlives its bucket')
  let objects = 0
  assert.equal(rowsOf(world, 'cors').length, model.cors.size, 'no rules outlive their bucket')
  for (const { id, name, objectCount, logicalBytes, hasCors = false } of buckets) {
    assert.equal(hasCors, model.cors.has(name))
    assert.equal(world.get(bucketKeys.cors(id)) !== undefined, hasCors)
    const held = model.buckets.get(name) ?? new Map<string, number>()
    assert.equal(objectCount, held.size)
    assert.equal(
      logicalBytes,
      [...held.values()].reduce((sum, size) => sum + size, 0),
    )
    for (const [key, size] of held) assert.equal(world.get(versionKeys.object(id, key))?.size, size)
    objects += held.size
  }
  assert.equal(rowsOf(world, 'object').length, objects, 'no object outlives its bucket')
}

function checkCounts(world: MapWorld): void {
  const objects = rowsOf<ObjectRecord>(world, 'object')
  const linked = rowsOf<ManifestPageRecord>(world, 'manifestPage').flatMap((page) => page.links)
  const bodies = [...objects, ...rowsOf<DiscardedBodyRecord>(world, 'discarded')].map(({ body }) => body)
  const expected = bodies.reduce((sum, body) => sum + (body.kind === 'chunks' ? body.count : 0), 0)
  assert.equal(
    linked.length,
    expected,
    'pages stay as long as their objects, and while a download may read them',
  )
  const inline = bodies.filter(({ kind }) => kind === 'inline').length
  assert.equal(rowsOf(world, 'inlineBody').length, inline, 'inline bodies stay as long')
  for (const row of rowsOf<ChunkRecord>(world, 'chunk')) {
    const references = linked.filter(({ id }) => id === row.id).length
    assert.equal(row.references, references, 'references equal their recount')
    assert.equal(row.condemnedAt === null, references > 0, 'condemned exactly while unreferenced')
    assert.ok(row.replicas.length > 0, 'a chunk always has a listed copy')
    assert.equal(new Set(row.replicas).size, row.replicas.length)
  }
  for (const { id } of linked) assert.ok(world.get(chunkKeys.chunk('acme', id)), 'no dangling link')
}

/** Call it right after the entry: later entries may strike copies off. */
function checkAcknowledged(world: MapWorld, step: Step): void {
  if (step.do !== 'putChunks') return
  for (const { chunk } of step.uses) {
    const copies = world.get(chunkKeys.chunk('acme', chunk))?.replicas.length ?? 0
    assert.ok(copies >= 2, `${chunk} was acknowledged on ${copies} copies`)
  }
}

/** Every row that follows from chunks, computed only from the chunks. */
function checkDerived(world: MapWorld): void {
  const chunks = rowsOf<ChunkRecord>(world, 'chunk')
  const keysOf = (kind: string) =>
    new Set([...world.rows.keys()].filter((key) => kindOf(key) === kind)) as Set<string>
  assert.deepEqual(keysOf('making'), new Set(chunks.map(({ birth, id }) => chunkKeys.making(birth, id))))
  const queue = chunks.flatMap(({ condemnedAt, id }) =>
    condemnedAt === null ? [] : [chunkKeys.condemned(condemnedAt, 'acme', id)],
  )
  assert.deepEqual(keysOf('condemned'), new Set<string>(queue))
  const tasks = chunks.flatMap((chunk) => chunk.owed.map((target) => taskKey(chunk, target)))
  assert.deepEqual(keysOf('repair'), new Set<string>(tasks))
  for (const { node, id, birth } of rowsOf<DropRecord>(world, 'drop')) {
    const row = world.get(chunkKeys.chunk('acme', id))
    const isNeeded = row?.birth === birth && (row.replicas.includes(node) || row.owed.includes(node))
    assert.ok(!isNeeded, 'no drop row for a listed or owed copy')
  }
}

function checkUsage(world: MapWorld): void {
  const chunks = rowsOf<ChunkRecord>(world, 'chunk')
  const buckets = rowsOf<BucketRecord>(world, 'bucket')
  const total = (figures: readonly number[]) => figures.reduce((sum, figure) => sum + figure, 0)
  assert.deepEqual(
    { ...NO_USAGE, metadataBytes: 0, ...world.get(usageKeys.usage('acme')) },
    {
      metadataBytes: metadataIn(world),
      objects: total(buckets.map(({ objectCount }) => objectCount)),
      versions: total(buckets.map(({ versionCount }) => versionCount)),
      deleteMarkers: 0,
      uploads: 0,
      uploadBytes: 0,
      logicalBytes: total(buckets.map(({ logicalBytes }) => logicalBytes)),
      chunkCount: chunks.length,
      chunkBytes: total(chunks.map(({ size }) => size)),
      storedBytes: total(chunks.map(({ sealedSize }) => sealedSize)),
      copyBytes: total(chunks.map(({ sealedSize, replicas }) => sealedSize * replicas.length)),
      inlineBytes: total(rowsOf<InlineBodyRecord>(world, 'inlineBody').map(({ sealed }) => sealed.length)),
      dedupSavedBytes:
        total(
          rowsOf<ManifestPageRecord>(world, 'manifestPage').flatMap((page) =>
            page.links.map(({ size }) => size),
          ),
        ) - total(chunks.filter(({ references }) => references > 0).map(({ size }) => size)),
      compressionSavedBytes: total(chunks.map(({ size, sealedSize }) => Math.max(0, size - sealedSize))),
    },
  )
}

function checkRepairs(world: MapWorld): void {
  const repairs = rowsOf<RepairRecord>(world, 'repair')
  assert.equal(world.get(chunkKeys.repairTotal())?.count ?? 0, repairs.length)
  const ofOperation = repairs.filter(({ operation }) => operation === 'op').length
  assert.equal(world.get(longOperationKeys.operation('op'))?.progress.tasksOpen, ofOperation)
  for (const { tenantId, chunkId, birth, target } of repairs) {
    const row = world.get(chunkKeys.chunk(tenantId, chunkId))
    assert.equal(row?.birth, birth, 'a task names the birth of the row')
    assert.notEqual(row?.replicas.includes(target), true, 'a listed copy is not owed')
  }
}

t.test('state machine', (t) => {
  t.test('agrees with a simple model and with its own recount after any history', (t) => {
    const entry = fc.array(step, { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 40, size: 'max' }), (history) => {
        const world = new MapWorld()
        world.do(createTenant('acme'))
        world.entry([OPEN_SESSION, startOperation('op')])
        const model = new Model()
        for (const steps of history) {
          const replies = world.entry(steps.map((step, ordinal) => commandOf(step, world, ordinal)))
          replies.forEach((reply, i) => {
            const one = steps[i]
            assert(one !== undefined)
            const expected = model.expects(one)
            if (expected !== null) assert.equal(reply.ok, expected, JSON.stringify({ one, reply }))
            if (reply.ok) model.take(one)
            if (reply.ok && steps.length === 1) checkAcknowledged(world, one)
          })
          checkAgainstModel(world, model)
          checkCounts(world)
          checkRepairs(world)
          checkDerived(world)
          checkUsage(world)
        }
        releaseAll(world)
        checkCounts(world)
        checkDerived(world)
        checkUsage(world)
      }),
      { seed: 20, numRuns: 200 },
    )
    t.end()
  })

  t.test('gives the same rows and replies whenever the same entries are applied', (t) => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30, size: 'max' }), (history) => {
        const [one, two] = [new MapWorld(), new MapWorld()]
        for (const world of [one, two])
          world.entry([createTenant('acme'), OPEN_SESSION, startOperation('op')])
        for (const step of history) {
          const command = commandOf(step, one, 0)
          assert.deepEqual(one.entry([command]), two.entry([command]))
        }
        assert.deepEqual([...one.rows], [...two.rows])
      }),
      { seed: 21, numRuns: 100 },
    )
    t.end()
  })
  t.end()
})
