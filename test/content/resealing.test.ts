/** Sealing again with another data key: what is read is proved, what is written opens with the new key alone. */
import t from 'tap'
import { ChunkKeys } from '../../src/content/chunk-keys.ts'
import { newTenantKeys } from '../../src/access/credentials.ts'
import { sealChunk, sealPlain } from '../../src/content/sealing.ts'
import type { ChunkRecord } from '../../src/state-machine/chunks/records.ts'
import type { TenantRecord } from '../../src/state-machine/tenants/records.ts'
import { ContentWorld, patternBytes, testMasterKey, testTenant } from '../helpers/content-world.ts'

const { signal } = new AbortController()

/** A tenant whose key is being exchanged, with one chunk that says it is `id`. */
async function exchanging(plain: Buffer, id?: string) {
  const before = testTenant()
  const { dataKey } = newTenantKeys('acme', testMasterKey, 2)
  const formerKey = { version: 1, dataKey: before.dataKey, operation: 'op1' }
  const tenant: TenantRecord = { ...before, dataKey, dataKeyVersion: 2, formerKey }
  const world = new ContentWorld({ tenant })
  const { keys } = new ChunkKeys(testMasterKey).of(before).present
  const chunkId = id ?? keys.chunkIdOf(plain)
  const { sealed, checksum } = sealChunk(keys, { id: chunkId, plain }, 'zstd')
  const name = { id: chunkId, birth: 'old-1' }
  const { replicas } = await world.blobs.write({ ...name, bytes: sealed, checksum })
  const about = { tenantId: 'acme', size: plain.length, sealedSize: sealed.length, checksum }
  const chunk: ChunkRecord = { ...name, ...about, replicas, owed: [], references: 1, condemnedAt: null }
  world.chunks.set(chunkId, chunk)
  return { world, tenant, chunk, keys, chunkId }
}

t.test('a chunk keeps its id, its size and its compression', async (t) => {
  for (const plain of [patternBytes(3_000), Buffer.alloc(200_000, 'abcdefgh'), patternBytes(600_000)]) {
    const { world, tenant, chunk } = await exchanging(plain)
    const made = await world.content.resealChunk(tenant, chunk, 'new-1', signal)
    t.match(made, {
      chunkId: chunk.id,
      from: 'old-1',
      birth: 'new-1',
      sealedSize: chunk.sealedSize,
      missing: [],
    })
    t.not(made?.checksum, chunk.checksum)
    const sealedAgain = world.blobs.bytesOn('n1', { id: chunk.id, birth: 'new-1' })
    t.notOk(sealedAgain.equals(world.blobs.bytesOn('n1', chunk)))
    t.equal(world.content.chunksHeld, 0, 'its slot is free')
  }
})

t.test('bytes that are not those of the id are not sealed again', async (t) => {
  const plain = patternBytes(3_000)
  const { world, tenant, chunk } = await exchanging(plain, 'f'.repeat(64))
  await t.rejects(world.content.resealChunk(tenant, chunk, 'new-1', signal), /not those of its id/)
  t.equal(world.blobs.written.length, 1, 'only the copy before')
})

t.test('a chunk that was made again meanwhile is left', async (t) => {
  const { world, tenant, chunk } = await exchanging(patternBytes(3_000))
  world.chunks.set(chunk.id, { ...chunk, birth: 'other-1' })
  t.equal(await world.content.resealChunk(tenant, chunk, 'new-1', signal), null)
})

t.test('a small body opens with the new key, and not when its id is another', async (t) => {
  const plain = patternBytes(500)
  const { world, tenant, keys, chunkId } = await exchanging(plain)
  const row = { sealed: sealPlain(keys, chunkId, plain) }
  const sealed = world.content.resealInline(tenant, { chunkId, size: 500, row })
  t.equal(sealed.length, row.sealed.length)
  t.notOk(Buffer.from(sealed).equals(row.sealed))
  const { present } = new ChunkKeys(testMasterKey).of(tenant)
  t.ok(Buffer.from(sealed).equals(sealPlain(present.keys, chunkId, plain)))
  const other = {
    chunkId: 'e'.repeat(64),
    size: 500,
    row: { sealed: sealPlain(keys, 'e'.repeat(64), plain) },
  }
  t.throws(() => world.content.resealInline(tenant, other), /not those of its id/)
})

t.test('a wrapped key of one version does not open as another', async (t) => {
  const tenant = testTenant()
  const keys = new ChunkKeys(testMasterKey)
  t.throws(() => keys.of({ ...tenant, dataKeyVersion: 2 }))
  const second = newTenantKeys('acme', testMasterKey, 2)
  t.throws(() => keys.of({ ...tenant, dataKey: second.dataKey }))
  t.equal(keys.of({ ...tenant, dataKey: second.dataKey, dataKeyVersion: 2 }).present.version, 2)
})
