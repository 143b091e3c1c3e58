/**
 * `node scripts/bench/completion.ts`: how long an upload of 10,000 parts blocks the state machine of one node when it
 * completes, when it is completed again, and while its bytes are released.
 *
 * Owns: the measurement, of whole entries applied directly to the LevelDB of one node. Rule: no figure is judged here; the
 * load of the machine is printed with them.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { FEATURE_LEVEL } from '../../cluster/node/base/feature-level.ts'
import type { DiscardedBodyRecord } from '../../src/state-machine/bodies/records.ts'
import type { ChunkUse } from '../../src/state-machine/chunks/commands.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { PART_BYTES_MIN, PARTS_MAX } from '../../src/state-machine/objects/limits.ts'
import { decodeReply, encodeCommand } from '../../src/commands/command-codec.ts'
import { openStore } from '../../src/store/open-store.ts'
import { bodyRanges } from '../../src/state-machine/bodies/keys.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { pageOfUploads } from '../../src/store/reads/upload-listing.ts'

const CHUNKS_PER_PART = 2
const PARTS_PER_ENTRY = 200

const dir = mkdtempSync(join(tmpdir(), 'holdfast-completion-'))
const { stateMachine, reader } = openStore({ dir, logger: pino({ level: 'silent' }) })
let index = 0

/** Applies one entry; resolves with its duration. Throws refusals. */
async function entry(commands: readonly Command[]): Promise<number> {
  index++
  const encoded = {
    index,
    time: 1_800_000_000_000 + index,
    confirmedTime: 1_800_000_000_000 + index,
    orderTime: 1_800_000_000_000 + index,
    featureLevel: FEATURE_LEVEL,
    commands: commands.map(encodeCommand),
  }
  const start = performance.now()
  const [replies = []] = await stateMachine.apply({ entries: [encoded], record: Buffer.from(`${index}`) })
  const ms = performance.now() - start
  for (const reply of replies.map(decodeReply)) if (!reply.ok) throw new Error(reply.message)
  return ms
}

function chunkOf(n: number): ChunkUse {
  const id = n.toString(16).padStart(64, '0')
  const [size, replicas] = [PART_BYTES_MIN, ['n1', 'n2', 'n3']]
  const about = { size, sealedSize: size + 100, checksum: id, existing: false, replicas, missing: [] }
  return { id, birth: `gateway-${n}`, ...about }
}

const NAME = { tenantId: 'acme', bucket: 'films', key: 'k' } as const
const etagOf = (partNumber: number): string => `${partNumber.toString(16).padStart(32, '0')}-1`

function partOf(uploadId: string, partNumber: number): Command {
  const chunks = Array.from({ length: CHUNKS_PER_PART }, (_, n) => chunkOf(partNumber * CHUNKS_PER_PART + n))
  const body = { kind: 'chunks', chunks, copiesMin: 2 } as const
  const size = CHUNKS_PER_PART * PART_BYTES_MIN
  const checksums = { CRC64NVME: 'AAAAAAAAAAA=' }
  return { type: 'putPart', ...NAME, uploadId, partNumber, size, etag: etagOf(partNumber), checksums, body }
}

const dueItem = ({ discardedAt, id }: DiscardedBodyRecord) => ({ discardedAt, id })

async function beginUpload(): Promise<string> {
  const keys = { dataKey: Buffer.alloc(32), dedupKey: Buffer.alloc(32), masterKeyId: 'mk-1' }
  const plain = { bucketsMax: 1, versioning: 'Unversioned', objectLockEnabled: false } as const
  const settings = { tags: {}, retention: null, legalHold: false, checksumAlg: null }
  const about = { contentType: 'video/mp4', metadata: {}, masterKeyId: 'mk-1', initiator: 'key' }
  await entry([
    { type: 'createTenant', id: 'acme', name: 'acme', ...keys },
    { type: 'createBucket', tenantId: 'acme', name: 'films', ...plain },
    { type: 'openSession', session: 'gateway', node: 'n1', keep: [] },
    { type: 'createUpload', ...NAME, ...about, ...settings, expiresInMs: 86_400_000 },
  ])
  const bucket = reader.get(bucketKeys.bucket('acme', 'films'))
  if (bucket === undefined) throw new Error('The bucket is gone')
  const query = { prefix: '', delimiter: '', keyMarker: '', uploadIdMarker: '', limit: 1 }
  const [upload] = (await pageOfUploads(reader, bucket.id, query)).uploads
  return upload?.uploadId ?? ''
}

async function measure(): Promise<readonly string[]> {
  await stateMachine.open()
  const uploadId = await beginUpload()
  const numbers = Array.from({ length: PARTS_MAX }, (_, n) => n + 1)
  for (let n = 0; n < PARTS_MAX; n += PARTS_PER_ENTRY)
    await entry(numbers.slice(n, n + PARTS_PER_ENTRY).map((one) => partOf(uploadId, one)))
  const parts = numbers.map((partNumber) => ({ partNumber, etag: etagOf(partNumber) }))
  const made = { etag: 'e', checksums: {}, precondition: { ifMatch: null, ifNoneMatch: null } }
  const complete = { type: 'completeUpload', ...NAME, uploadId, parts, fingerprint: 'f', ...made } as const
  const [first, again] = [await entry([complete]), await entry([complete])]
  await entry([{ type: 'deleteObject', ...NAME, versionId: null, ifMatch: null }])
  const steps: number[] = []
  for (
    let items = (await reader.page(bodyRanges.discarded(), { limit: 1 })).items;
    items.length > 0;
    items = (await reader.page(bodyRanges.discarded(), { limit: 1 })).items
  )
    steps.push(await entry([{ type: 'releaseDue', upTo: index, items: items.map(dueItem) }]))
  const ms = (figure: number): string => `${figure.toFixed(0)} ms`
  const all = steps.reduce((sum, one) => sum + one, 0)
  return [
    `completion of ${PARTS_MAX} parts: ${ms(first)}; again: ${ms(again)}`,
    `release of ${PARTS_MAX * CHUNKS_PER_PART} chunks: ${steps.length} entries, the longest ${ms(Math.max(...steps))}, all ${ms(all)}`,
  ]
}

try {
  const before = loadavg()[0] ?? 0
  const lines = await measure()
  const loads = `load average ${before.toFixed(1)} before, ${(loadavg()[0] ?? 0).toFixed(1)} after`
  const machine = `Node ${process.versions.node}, ${availableParallelism()} cores, ${loads}`
  process.stdout.write(`${[machine, ...lines].join('\n')}\n`)
} finally {
  await stateMachine.close()
  rmSync(dir, { recursive: true, force: true })
}
