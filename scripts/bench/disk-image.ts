/**
 * The data directory of a node that is stopped, or a copy of one: which copies are on it, and what opens them with the keys of its rows or of others.
 *
 * Owns: looking. Rule: it changes nothing that matters: the stores that it opens make their directories and no more.
 */
import { join } from 'node:path'
import pino from 'pino'
import { DiskBlobStore } from '../../cluster/blobs/disk/disk-blob-store.ts'
import type { BlobName } from '../../cluster/index.ts'
import { MasterKey } from '../../src/access/master-key.ts'
import { ChunkKeys } from '../../src/content/chunk-keys.ts'
import { openFrames } from '../../src/content/frame-layout.ts'
import { FRAME_BYTES, frameCountOf, SealBrokenError } from '../../src/content/frame-cipher.ts'
import type { KeyRing } from '../../src/content/key-ring.ts'
import { layoutBytesOf, layoutOf } from '../../src/content/sealing.ts'
import { chunkRanges } from '../../src/state-machine/chunks/keys.ts'
import type { ChunkRecord } from '../../src/state-machine/chunks/records.ts'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'
import type { TenantRecord } from '../../src/state-machine/tenants/records.ts'
import { openStore } from '../../src/store/open-store.ts'

const PAGE = 1_000
const SILENT = pino({ level: 'silent' })

export interface DiskRows {
  readonly tenant: TenantRecord
  readonly chunks: readonly ChunkRecord[]
}

/** What the rows of this disk say of a tenant. */
export async function rowsOn(dataDir: string, tenantId: string): Promise<DiskRows> {
  const { stateMachine, reader } = openStore({ dir: join(dataDir, 'state'), logger: SILENT })
  await stateMachine.open()
  try {
    const tenant = reader.get(tenantKeys.tenant(tenantId))
    if (tenant === undefined) throw new Error(`There is no tenant ${tenantId}`)
    const chunks: ChunkRecord[] = []
    for (let after: string | null = ''; after !== null; ) {
      const page: { items: readonly ChunkRecord[]; next: string | null } = await reader.page(
        chunkRanges.chunksOf(tenantId),
        { after, limit: PAGE },
      )
      chunks.push(...page.items)
      after = page.next
    }
    return { tenant, chunks }
  } finally {
    await stateMachine.close()
  }
}

export async function withBlobs<T>(dataDir: string, work: (store: DiskBlobStore) => Promise<T>): Promise<T> {
  const onFatal = (error: Error): never => {
    throw error
  }
  const store = new DiskBlobStore({ directory: join(dataDir, 'blobs'), logger: SILENT, onFatal })
  await store.open()
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** `id.birth` of every copy, in files and in packs. */
export function copiesOn(dataDir: string): Promise<ReadonlySet<string>> {
  return withBlobs(dataDir, async (store) => {
    const names = new Set<string>()
    for (let after: BlobName | null = null; ; ) {
      const page: readonly BlobName[] = await store.list(after, PAGE)
      for (const { id, birth } of page) names.add(`${id}.${birth}`)
      after = page.at(-1) ?? null
      if (page.length < PAGE || after === null) return names
    }
  })
}

export async function ringOf(tenant: TenantRecord, masterKeyFile: string): Promise<KeyRing> {
  return new ChunkKeys(await MasterKey.load(masterKeyFile)).of(tenant)
}

/** Whether the copy of this chunk opens, whole, with the present keys of the ring. */
export async function opens(
  store: DiskBlobStore,
  chunk: ChunkRecord,
  { present }: KeyRing,
): Promise<boolean> {
  const { id, birth, size, sealedSize } = chunk
  const sealed = { keys: present.keys, id, size, sealedSize }
  const head = layoutBytesOf(sealed)
  const name = { id: id as string, birth }
  try {
    const layout = layoutOf(sealed, await wholeOf(store.read(name, 0, head)))
    let bytes = 0
    const span = { first: 0, end: frameCountOf(size) }
    for await (const plain of openFrames(store.read(name, head, sealedSize), layout, span))
      bytes += plain.length
    return bytes === size && bytes <= span.end * FRAME_BYTES
  } catch (error) {
    if (error instanceof SealBrokenError) return false
    throw error
  }
}

async function wholeOf(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = []
  for await (const piece of pieces) all.push(piece)
  return Buffer.concat(all)
}
