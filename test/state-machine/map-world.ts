/**
 * A log and a state in a Map: commands go in one entry each (or several in one), rows and replies come out.
 *
 * Asserts the invariants of every command: a refusal writes nothing but its row of the audit log, and the writes touch each row
 * once.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { RowKind } from '../../src/state-machine/rows.ts'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import { bodyRanges } from '../../src/state-machine/bodies/keys.ts'
import type { Row, View } from '../../src/state-machine/base/view.ts'
import { type KeyRange, kindOf, type RowKey } from '../../src/state-machine/base/row-key.ts'
import { FEATURE_LEVEL } from '../../cluster/node/base/feature-level.ts'
import type {
  DiscardedBodyRecord,
  DiscardRecord,
  PartRecord,
  UploadPageRecord,
} from '../../src/state-machine/bodies/records.ts'
import type { ChunkUse, PutBody } from '../../src/state-machine/chunks/commands.ts'
import type { Command, Proposal, PutCommand, Reply, ReplyValues } from '../../src/state-machine/commands.ts'
import type { WritePrecondition } from '../../src/state-machine/objects/commands.ts'
import type { VersionSettings } from '../../src/state-machine/versions/records.ts'
import { commandCost } from '../../src/state-machine/command-cost.ts'
import { taskKey } from '../../src/state-machine/chunks/chunk-rows.ts'
import { Recount } from '../../src/state-machine/recount/recount.ts'
import { apply } from '../../src/state-machine/state-machine.ts'

const AUDIT_KINDS: ReadonlySet<string> = new Set(['auditLink', 'auditHead'])

export const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

export class MapWorld implements View {
  readonly rows = new Map<string, Row>()
  index = 0
  featureLevel = FEATURE_LEVEL
  /** Index of the last entry. */
  time = 1_700_000_000_000
  /** How far the confirmed time lags behind. ms */
  withheldMs = 0
  /** For the next entry: the time before its correction. */
  before: { readonly time: number; readonly confirmedTime: number } | null = null
  /** The maximum of all times so far. */
  highTime = 0

  get<R extends object>(key: RowKey<R>): R | undefined {
    return this.rows.get(key) as R | undefined
  }

  run<C extends Command>(command: C): Reply<C['type']> {
    return this.entry([command])[0] as Reply<C['type']>
  }

  /** Runs a command that must be accepted. */
  do<C extends Command>(command: C): ReplyValues[C['type']] {
    const reply = this.run(command)
    if (!reply.ok) throw new Error(`${command.type} was refused: ${reply.message}`)
    return reply.value
  }

  entry(commands: readonly Proposal[]): readonly Reply[] {
    this.index++
    this.time += 7
    const { index, time, featureLevel, before } = this
    this.highTime = Math.max(this.highTime, time)
    const times = { time, confirmedTime: time - this.withheldMs, orderTime: this.highTime }
    return commands.map((command, ordinal) => {
      const { writes, reply } = apply(this, command, {
        index,
        ...times,
        ...(before === null ? {} : { before }),
        featureLevel,
        ordinal,
        digest,
      })
      const others = writes.filter(({ key }) => !AUDIT_KINDS.has(kindOf(key)))
      const cost = commandCost(this, command)
      assert(writes.length <= cost, `${command.type} changes ${writes.length} rows and says ${cost}`)
      assert(reply.ok || others.length === 0, 'a refusal writes nothing but its row of the audit log')
      const links = writes.filter(({ key }) => kindOf(key) === 'auditLink').length
      if (command.origin !== undefined) assert.equal(links, 1, 'a change that a request asks for has one row')
      assert.equal(new Set(writes.map(({ key }) => key)).size, writes.length, 'each row is written once')
      for (const { key, row } of writes) {
        if (row === null) this.rows.delete(key)
        else this.rows.set(key, row)
      }
      return reply
    })
  }
}

/** Releases all that is discarded, step by step; returns the number of steps. */
export function releaseAll(world: MapWorld): number {
  for (let steps = 0; ; steps++) {
    const command = nextRelease(world)
    if (command === null) return steps
    world.do(command)
  }
}

function nextRelease(world: MapWorld): Command | null {
  const due = rowsOf<DiscardedBodyRecord>(world, 'discarded')
  const items = due.slice(0, 100).map(({ discardedAt, id }) => ({ discardedAt, id }))
  if (items.length > 0) return { type: 'releaseDue', upTo: world.index, items }
  const [row] = rowsOf<DiscardRecord>(world, 'discard')
  if (row === undefined) return null
  const { id, bucketId, what } = row
  const isUpload = what.kind === 'upload'
  const parts = isUpload ? partsOf(world, bucketId, id) : []
  const partNumbers = parts.slice(0, 100).map(({ partNumber }) => partNumber)
  return { type: 'releaseDiscarded', id, partNumbers }
}

export function rowsOf<R>(world: Pick<MapWorld, 'rows'>, kind: RowKind): R[] {
  return [...world.rows].filter(([key]) => kindOf(key) === kind).map(([, row]) => row as R)
}

/** The parts of an upload, by number. */
export function partsOf(world: Pick<MapWorld, 'rows'>, bucketId: string, uploadId: string): PartRecord[] {
  const pages = rowsUnder<UploadPageRecord>(world, bodyRanges.uploadPages(bucketId, uploadId, 0))
  return pages.flatMap(({ parts }) => parts)
}

/** In the order of their keys. */
export function rowsUnder<R>(world: Pick<MapWorld, 'rows'>, { start, end }: KeyRange): R[] {
  const bytes = (text: string) => Buffer.from(text)
  return [...world.rows]
    .filter(
      ([key]) => Buffer.compare(bytes(key), bytes(start)) >= 0 && Buffer.compare(bytes(key), bytes(end)) < 0,
    )
    .sort(([one], [other]) => Buffer.compare(bytes(one), bytes(other)))
    .map(([, row]) => row as R)
}

const hash = (text: string): bigint => createHash('sha256').update(text).digest().readBigUInt64LE()

/** The differences that the recount finds. */
export function recounted(world: Pick<MapWorld, 'rows' | 'get'>): readonly string[] {
  const recount = new Recount(hash, world)
  const rows = [...world.rows].sort(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
  for (const [key, row] of rows) recount.take(key, row)
  return recount.finish()
}

/** `acme` with the bucket `photos`, and a gateway that uploads. */
export function worldWithBucket(): MapWorld {
  const world = new MapWorld()
  world.do(createTenant('acme'))
  world.entry([createBucket(), OPEN_SESSION])
  return world
}

/** At level 2, where the chunks of a small body are released in the entry that removes its object. */
export function worldAtLevel2(): MapWorld {
  const world = worldWithBucket()
  world.featureLevel = 2
  return world
}

export function startOperation(operationId: string): Extract<Command, { type: 'startOperation' }> {
  const unlimited = { reason: null, tenantId: null, bucket: null, node: null, maxBytesPerSecond: null }
  return { type: 'startOperation', operationId, kind: 'rebalance', requestedBy: 'olga', ...unlimited }
}

/** The births of `fresh` are of this session. */
export const OPEN_SESSION = { type: 'openSession', session: 'birth', node: 'g1', keep: [] } as const

export function dropCopy(chunkId: string, node: string, birth = `birth-${chunkId}`): Command {
  return { type: 'dropReplicas', node, copies: [{ tenantId: 'acme', chunkId, birth }], operation: null }
}

/** The end of the task that `node` has for this chunk. */
export function addCopy(view: View, chunkId: string, node: string, birth = `birth-${chunkId}`): Command {
  const chunk = view.get(chunkKeys.chunk('acme', chunkId))
  const permit = chunk === undefined ? 0 : (view.get(taskKey(chunk, node))?.permit ?? 0)
  return { type: 'addReplica', tenantId: 'acme', chunkId, birth, node, permit }
}

export function createTenant(id: string): Extract<Command, { type: 'createTenant' }> {
  const [dataKey, dedupKey] = [Uint8Array.of(1), Uint8Array.of(2)]
  return { type: 'createTenant', id, name: id, dataKey, dedupKey, masterKeyId: 'mk-1' }
}

export function disableTenant(world: MapWorld, id: string): void {
  world.do({ type: 'disableTenant', tenantId: id, reason: 'unpaid' })
}

/** Begins the deletion of one that is disabled. */
export function deleteTenant(id: string, operationId: string): Extract<Command, { type: 'deleteTenant' }> {
  const request = { requestedBy: 'olga', reason: 'requested', locksEndedBy: 0 }
  return { type: 'deleteTenant', tenantId: id, operationId, ...request }
}

/** The whole deletion of a tenant that stores nothing. */
export function endTenant(world: MapWorld, id: string): void {
  disableTenant(world, id)
  world.do(deleteTenant(id, `end-of-${id}`))
  world.do({ type: 'shredTenant', tenantId: id, operationId: `end-of-${id}` })
}

export function createBucket(
  name = 'photos',
  more: Partial<Extract<Command, { type: 'createBucket' }>> = {},
): Extract<Command, { type: 'createBucket' }> {
  const plain = { bucketsMax: 10, versioning: 'Unversioned', objectLockEnabled: false } as const
  return { type: 'createBucket', tenantId: 'acme', name, ...plain, ...more }
}

/** Deletes the key, or one version of it. */
export function remove(
  key: string,
  versionId: string | null = null,
  bucket = 'photos',
): Extract<Command, { type: 'deleteObject' }> {
  return { type: 'deleteObject', tenantId: 'acme', bucket, key, versionId, ifMatch: null }
}

export const ANYTHING: WritePrecondition = { ifMatch: null, ifNoneMatch: null }
export const NO_SETTINGS: VersionSettings = { tags: {}, retention: null, legalHold: false }

export function put(key: string, body: PutBody, size: number): PutCommand {
  return {
    type: 'putObject',
    tenantId: 'acme',
    bucket: 'photos',
    key,
    size,
    etag: `etag of ${key}`,
    contentType: 'text/plain',
    checksums: {},
    metadata: {},
    masterKeyId: 'mk-1',
    body,
    precondition: ANYTHING,
    idempotency: null,
    ...NO_SETTINGS,
  }
}

/** Chunks of 10 bytes each; unless given otherwise each is a fresh upload held by n1 and n2, which is enough. */
export function putChunks(key: string, chunks: readonly (string | ChunkUse)[], copiesMin = 2): PutCommand {
  const uses = chunks.map((chunk) => (typeof chunk === 'string' ? fresh(chunk) : chunk))
  return put(
    key,
    { kind: 'chunks', chunks: uses, copiesMin },
    uses.reduce((sum, use) => sum + use.size, 0),
  )
}

export function fresh(id: string, more: Partial<ChunkUse> = {}): ChunkUse {
  const copies = { existing: false, replicas: ['n1', 'n2'], missing: [] }
  return { id, birth: `birth-${id}`, size: 10, sealedSize: 38, checksum: `sum-${id}`, ...copies, ...more }
}

export function found(id: string, more: Partial<ChunkUse> = {}): ChunkUse {
  return fresh(id, { existing: true, replicas: [], ...more })
}
