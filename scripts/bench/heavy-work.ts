/**
 * The work that blocks a node longest, repeated beside the rows of a measurement: uploads of 10,000 parts and their completion, copies of large objects, tenants that
 * are deleted with their objects, scrubs, rebuilds of copies that a node lost, and rebalancing.
 *
 * Owns: these six loops and their counts. Rules: a refusal because the cluster is busy is counted and repeated after a pause, so a loop never ends early; each
 * loop has one piece of work under way; the parts of an upload have the same bytes, so the disk keeps one of them.
 */
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import {
  type AdminClient,
  adminClient,
  ApiError,
  type DataClient,
  dataClient,
} from '../../src/client/clients.ts'
import type { MeasuredCluster } from './cluster.ts'
import { loseCopies, type LostCopies } from './lost-copies.ts'

const MIB = 1024 * 1024
const PART_BYTES = 5 * MIB
const PARTS = 10_000
const PARTS_AT_ONCE = 4
const COPIED_BYTES = 64 * MIB
const TENANT_OBJECTS = 2000
const TENANT_PUTS_AT_ONCE = 8
const LOST_COPIES = 64
const PAUSE_MS = 200
const REASON = 'measured under heavy work'

export interface HeavyWork {
  /** How often each kind of work was done, and how often a request of it was refused, with the first of other failures. */
  readonly lines: () => readonly string[]
  /** Waits for the requests under way. */
  readonly stop: () => Promise<void>
}

interface Kind {
  readonly name: string
  readonly once: () => Promise<void>
  done: number
}

/** Repeats a request until the cluster takes it. Rejects with Stopped when the work is stopped. */
type Retry = <T>(request: () => Promise<T>) => Promise<T>

/** Ends a loop in the middle of its work. */
class Stopped extends Error {}

export async function startHeavyWork(cluster: MeasuredCluster, adminToken: string): Promise<HeavyWork> {
  const data = dataClient(cluster)
  const admin = adminClient({ endpoints: cluster.adminUrls, token: adminToken })
  let isOver = false
  let refused = 0
  const failures = new Map<string, string>()
  const retry: Retry = async (request) => {
    while (!isOver) {
      try {
        return await request()
      } catch (error) {
        if (!(error instanceof ApiError && (error.status === 503 || error.status === 429))) throw error
        refused++
        await wait(PAUSE_MS)
      }
    }
    throw new Stopped()
  }
  const pause = async (): Promise<void> => {
    if (isOver) throw new Stopped()
    await wait(PAUSE_MS * 5)
  }
  let losing = 0
  const rebuild = async (): Promise<void> => {
    const lose = (): LostCopies =>
      loseCopies(blobFolders(cluster), losing++ % cluster.pids.length, LOST_COPIES)
    let lost = lose()
    for (; lost.count === 0; lost = lose()) await pause()
    // The loop of scrubs finds what is missing.
    while (!lost.areBack()) await pause()
  }
  const bucket = 'heavy-work'
  await data.call('createBucket', { body: { name: bucket } })
  const kinds: readonly Kind[] = [
    { name: `uploads of ${PARTS} parts`, once: () => uploadOfParts(retry, data, bucket), done: 0 },
    { name: 'copies of 64 MiB', once: () => largeCopy(retry, data, bucket), done: 0 },
    {
      name: `tenants of ${TENANT_OBJECTS} objects deleted`,
      once: () => deletedTenant(retry, admin, cluster),
      done: 0,
    },
    {
      name: 'scrubs',
      once: () => endOf(retry, admin, () => admin.call('scrub', { body: { reason: REASON } })),
      done: 0,
    },
    { name: 'rebalances', once: () => rebalance(retry, admin), done: 0 },
    { name: `rebuilds of ${LOST_COPIES} lost copies`, once: rebuild, done: 0 },
  ]
  const loops = kinds.map(async (kind) => {
    while (!isOver) {
      try {
        await kind.once()
        kind.done++
      } catch (error) {
        if (error instanceof Stopped) return
        failures.set(kind.name, error instanceof Error ? error.message : String(error))
        await wait(PAUSE_MS)
      }
    }
  })
  return {
    lines: () => [
      `Heavy work: ${kinds.map(({ name, done }) => `${done} ${name}`).join(', ')}; ${refused} requests refused because the cluster was busy.`,
      ...[...failures].map(([name, message]) => `FAILED, ${name}: ${message}`),
    ],
    stop: async () => {
      isOver = true
      await Promise.all(loops)
      await Promise.all([data.close(), admin.close()])
    },
  }
}

async function uploadOfParts(retry: Retry, data: DataClient, bucket: string): Promise<void> {
  const key = 'parts'
  const create = { params: { bucket, key }, body: {} }
  const { uploadId } = (await retry(() => data.call('createMultipartUpload', create))).answer
  const bytes = Buffer.alloc(PART_BYTES, 'part')
  const parts: { readonly partNumber: number; readonly etag: string }[] = []
  await forEach(PARTS, PARTS_AT_ONCE, async (at) => {
    const partNumber = at + 1
    const params = { bucket, key, uploadId, partNumber: `${partNumber}` }
    const call = { params, body: bytes, isRepeatable: true }
    parts.push({ partNumber, etag: (await retry(() => data.call('uploadPart', call))).answer.etag })
  })
  const body = { parts: parts.toSorted((one, other) => one.partNumber - other.partNumber) }
  const call = { params: { bucket, key, uploadId }, body, isRepeatable: true }
  await retry(() => data.call('completeMultipartUpload', call))
  await retry(() => data.call('deleteObject', { params: { bucket, key } }))
}

/** The numbers from 0 to `count` - 1, `atOnce` of them at a time. */
async function forEach(count: number, atOnce: number, work: (at: number) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    for (let at = next++; at < count; at = next++) await work(at)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

async function largeCopy(retry: Retry, data: DataClient, bucket: string): Promise<void> {
  const params = { bucket, key: 'source' }
  const isThere = await retry(() => data.call('headObject', { params })).then(
    () => true,
    (error: unknown) => {
      if (error instanceof ApiError && error.status === 404) return false
      throw error
    },
  )
  if (!isThere)
    await retry(() =>
      data.call('putObject', { params, body: Buffer.alloc(COPIED_BYTES, 'copied'), isRepeatable: true }),
    )
  const body = { sourceBucket: bucket, sourceKey: 'source' }
  await retry(() => data.call('copyObject', { params: { bucket, key: 'copy' }, body, isRepeatable: true }))
  await retry(() => data.call('deleteObject', { params: { bucket, key: 'copy' } }))
}

async function deletedTenant(
  retry: Retry,
  admin: AdminClient,
  { endpoints }: MeasuredCluster,
): Promise<void> {
  const id = `heavy-${Math.random().toString(36).slice(2, 10)}`
  await retry(() => admin.call('createTenant', { body: { id, name: id } }))
  const scopes = 'read,write,delete,admin'
  const key = (
    await retry(() => admin.call('createTenantKey', { params: { id }, body: { scopes, name: id } }))
  ).answer
  const data = dataClient({ endpoints, accessKeyId: key.accessKeyId, secretKey: key.secretKey })
  try {
    await retry(() => data.call('createBucket', { body: { name: 'all' } }))
    await forEach(TENANT_OBJECTS, TENANT_PUTS_AT_ONCE, async (at) => {
      const params = { bucket: 'all', key: `${at}` }
      const call = { params, body: Buffer.alloc(1024, `${at}`), isRepeatable: true }
      await retry(() => data.call('putObject', call))
    })
  } finally {
    await data.close()
  }
  await retry(() => admin.call('disableTenant', { params: { id }, body: { reason: REASON } }))
  const body = { reason: REASON, confirm: id }
  await endOf(retry, admin, () => admin.call('deleteTenant', { params: { id }, body }))
}

function blobFolders({ folder, pids }: MeasuredCluster): readonly string[] {
  if (folder === null) throw new Error('Copies can be lost only by nodes of this machine')
  return pids.map((_, at) => join(folder, 'data', `n${at + 1}`, 'blobs'))
}

async function rebalance(retry: Retry, admin: AdminClient): Promise<void> {
  const [first] = (await retry(() => admin.call('listTenants', {}))).answer.tenants
  const tenantId = first?.id ?? 'demo'
  await endOf(retry, admin, () => admin.call('rebalance', { body: { tenantId, reason: REASON } }))
}

/** Waits until the operation that the request starts has ended. */
async function endOf(
  retry: Retry,
  admin: AdminClient,
  request: () => Promise<{ readonly answer: object }>,
): Promise<void> {
  const { answer } = await retry(request)
  if (!('operationId' in answer) || typeof answer.operationId !== 'string') return
  const params = { id: answer.operationId }
  for (;;) {
    const { status } = (await retry(() => admin.call('getOperation', { params }))).answer
    if (status !== 'running' && status !== 'queued') return
    await wait(PAUSE_MS * 5)
  }
}
