/**
 * Usage compared with the disks, on three nodes with nothing simulated: the figures match the contents of the blob directories.
 * HOLDFAST_USAGE_BYTES sets the size of the body, HOLDFAST_USAGE_NAMES under how many names it is stored.
 */
import { randomBytes } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { HEADER_BYTES } from '../../cluster/blobs/base/blob-header.ts'
import { newTenantKeys } from '../../src/access/credentials.ts'
import { ObjectContent } from '../../src/content/object-content.ts'
import type { UsageRecord } from '../../src/state-machine/usage/records.ts'
import { NO_USAGE, usageOf } from '../../src/state-machine/usage/usage.ts'
import { Collection } from '../../src/workers/collection.ts'
import { Discarding } from '../../src/workers/discarding.ts'
import { UploadSessions } from '../../src/workers/upload-sessions.ts'
import { until } from '../helpers/async.ts'
import { inPieces, testMasterKey, TEST_LIMITS } from '../helpers/content-world.ts'
import { SILENT } from '../helpers/loggers.ts'
import { ANYTHING, createBucket, NO_SETTINGS, remove } from '../state-machine/map-world.ts'
import { type RealNode, RealNodes } from './real-nodes.ts'
import { recountState } from '../../src/store/reads/recount-state.ts'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'

/** Large enough for separate files: a pack rounds its records up. */
const BYTES = Number(process.env['HOLDFAST_USAGE_BYTES'] ?? 700_000)
/** Half as long as the stored text, and no longer than a string may be. */
const TEXT_BYTES = Math.min(BYTES, 64 * 1024 * 1024)
const NAMES = Number(process.env['HOLDFAST_USAGE_NAMES'] ?? 10)
const COPIES = 3

/** A gateway on the first node. */
class Gateway {
  readonly #node: RealNode
  readonly #content: ObjectContent

  constructor(node: RealNode) {
    const { cluster, reader: state, propose, nodeId } = node
    const uploads = new UploadSessions({ nodeId, nextSession: () => cluster.blobs.nextSession(), propose })
    const config = { limits: TEST_LIMITS, content: { compression: 'zstd', sealingThreads: 1 } } as const
    this.#node = node
    this.#content = new ObjectContent({
      blobs: cluster.blobs,
      uploads,
      state,
      masterKey: testMasterKey,
      readBarrier: () => cluster.readBarrier(),
      config,
    })
  }

  async tenant(id: string): Promise<void> {
    const { propose } = this.#node
    await propose({ type: 'createTenant', id, name: id, ...newTenantKeys(id, testMasterKey) })
    await propose(createBucket('photos', { tenantId: id }))
  }

  async put(tenantId: string, key: string, bytes: Uint8Array): Promise<void> {
    const { reader, propose } = this.#node
    const tenant = reader.get(tenantKeys.tenant(tenantId))
    if (tenant === undefined) throw new Error(`There is no tenant "${tenantId}"`)
    const caller = { tenantId, accessKeyId: 'AK', address: '127.0.0.1' }
    const about = {
      tenant,
      caller,
      expectedSize: null,
      sizeMax: bytes.length,
      claimed: new Map<never, never>(),
    }
    const signal = new AbortController().signal
    const ingested = await this.#content.ingest({ ...about, source: inPieces(bytes, 65_536), signal })
    const { size, etag, checksums, body } = ingested
    const named = {
      tenantId,
      bucket: 'photos',
      key,
      contentType: 'text/plain',
      metadata: {},
      masterKeyId: 'mk',
      precondition: ANYTHING,
      idempotency: null,
      ...NO_SETTINGS,
    }
    const reply = await propose({ type: 'putObject', ...named, size, etag, checksums, body })
    ingested.end('known')
    if (!reply.ok) throw new Error(reply.message)
  }

  async remove(tenantId: string, key: string): Promise<void> {
    await this.#node.propose({ ...remove(key), tenantId })
  }

  close(): Promise<void> {
    return this.#content.close()
  }
}

/** Bytes of copies in the blob directory, without the frames around them. */
async function bytesOn({ directory }: RealNode): Promise<number> {
  let bytes = 0
  for (const shard of (await readdir(directory)).filter((name) => /^[0-9a-f]{2}$/.test(name))) {
    for (const name of await readdir(join(directory, shard))) {
      const { size } = await stat(join(directory, shard, name)).catch(() => ({ size: HEADER_BYTES }))
      bytes += size - HEADER_BYTES
    }
  }
  return bytes
}

t.test(`usage of a body of ${BYTES} bytes under ${NAMES} names`, async (t) => {
  const three = await RealNodes.start(t)
  const node = three.node('n1')
  const gateway = new Gateway(node)
  t.teardown(() => gateway.close())
  const usage = (id: string): UsageRecord => usageOf(node.reader, id)
  const onDisk = async (): Promise<number> => {
    const each = await Promise.all(three.nodes.map(bytesOn))
    return each.reduce((sum, bytes) => sum + bytes, 0)
  }
  /** Idle: every copy is where it should be, and disks and figures agree. */
  const agree = (what: string, tenants: readonly string[]) =>
    until(what, async () => {
      const physical = tenants.reduce((sum, id) => sum + usage(id).copyBytes, 0)
      const isAtRest = tenants.every((id) => usage(id).copyBytes === COPIES * usage(id).storedBytes)
      return isAtRest && physical === (await onDisk())
    })
  for (const id of ['alpha', 'beta']) await gateway.tenant(id)
  const body = randomBytes(BYTES)

  await t.test('stores it once in a tenant, times the copies, and reports the savings', async (t) => {
    for (let n = 0; n < NAMES; n++) await gateway.put('alpha', `name-${n}`, body)
    await agree('one body on the disks', ['alpha'])
    const { storedBytes } = usage('alpha')
    t.ok(storedBytes >= BYTES && storedBytes < BYTES * 1.01, 'sealing adds a little')
    t.match(usage('alpha'), {
      objects: NAMES,
      logicalBytes: NAMES * BYTES,
      chunkBytes: BYTES,
      dedupSavedBytes: (NAMES - 1) * BYTES,
      compressionSavedBytes: 0,
    })
    t.equal(await onDisk(), COPIES * storedBytes)
  })

  await t.test('stores it again for another tenant', async (t) => {
    await gateway.put('beta', 'name', body)
    await agree('two bodies on the disks', ['alpha', 'beta'])
    t.match(usage('beta'), { objects: 1, chunkBytes: BYTES, dedupSavedBytes: 0 })
    t.equal(await onDisk(), 2 * COPIES * usage('beta').storedBytes)
  })

  await t.test('counts what compression saves', async (t) => {
    // Random hexadecimal digits: half of their bits.
    await gateway.put('beta', 'text', Buffer.from(randomBytes(TEXT_BYTES).toString('hex')))
    await agree('the text is on the disks', ['alpha', 'beta'])
    const { chunkBytes, storedBytes, compressionSavedBytes } = usage('beta')
    t.ok(compressionSavedBytes > TEXT_BYTES / 2)
    const added = storedBytes - (chunkBytes - compressionSavedBytes)
    t.ok(added >= 0 && added < BYTES * 0.01, `${added} bytes of sealing around the uncompressed bytes`)
  })

  await t.test('frees everything when the last name is gone', async (t) => {
    const members = three.nodes.map(({ nodeId }) => nodeId)
    const { cluster, reader: state, propose } = node
    const duty = { isJobRunner: () => true, nodeId: cluster.nodeId }
    const collection = new Collection({
      confirmedTime: () => 0,
      cluster: duty,
      state,
      propose,
      members: () => members,
      now: () => 0,
      delayMs: 0,
      logger: SILENT,
    })
    for (let n = 1; n < NAMES; n++) await gateway.remove('alpha', `name-${n}`)
    const discarding = new Discarding({
      cluster: duty,
      state,
      propose,
      now: () => 0,
      delayMs: 0,
      logger: SILENT,
    })
    while (await discarding.round());
    t.match(usage('alpha'), { objects: 1, dedupSavedBytes: 0, chunkBytes: BYTES })
    await gateway.remove('alpha', 'name-0')
    for (const key of ['name', 'text']) await gateway.remove('beta', key)
    while (await discarding.round());
    await until('it is collected', async () => {
      await collection.round()
      return usage('alpha').chunkCount + usage('beta').chunkCount === 0
    })
    await agree('nothing is on the disks', ['alpha', 'beta'])
    // The rows of this state were written at the present level, at which metadata counts.
    const none = { ...NO_USAGE, metadataBytes: 0 }
    t.same([usage('alpha'), usage('beta')], [none, none])
    t.equal(await onDisk(), 0)
    t.match(await recountState(state, () => true), { differences: [] })
  })
})
