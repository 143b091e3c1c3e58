/**
 * Reads everything of a backup back, and opens it.
 *
 * Owns: the order, and what is wrong by name. Rules: a part that is damaged is named and the rest is read all the same; a target that does not answer ends the
 * check with its error, because nothing can be said then.
 */
import type { MasterKey } from '../../access/master-key.ts'
import { auditDataKey, auditDedupKey, tenantDataKey, tenantDedupKey } from '../../access/sealing-contexts.ts'
import { openFrames } from '../../content/frame-layout.ts'
import { frameCountOf, SealBrokenError } from '../../content/frame-cipher.ts'
import { layoutBytesOf, layoutOf } from '../../content/sealing.ts'
import { TenantKeys } from '../../content/tenant-keys.ts'
import type { AuditKeysRecord } from '../../state-machine/audit/records.ts'
import { AUDIT_OWNER } from '../../state-machine/base/record-ids.ts'
import type { ChunkRecord } from '../../state-machine/chunks/records.ts'
import { kindOf, type RowKey } from '../../state-machine/base/row-key.ts'
import {
  CUSTOMER_KEY_VERSION,
  dataKeyVersionOf,
  keyVersionOf,
} from '../../state-machine/tenants/data-keys.ts'
import type { TenantRecord } from '../../state-machine/tenants/records.ts'
import { decodeRow, keyText } from '../../store/rows/row-codec.ts'
import { rowsOf } from '../../store/rows/row-block.ts'
import { rowHash, RowSum } from '../../store/rows/row-sum.ts'
import type { ChunkEntry } from '../format/chunk-list.ts'
import { once } from '../run/sealed-files.ts'
import { type BackupReader, damageOf } from './backup-reader.ts'

export interface Damage {
  /** In the target. */
  readonly name: string
  readonly what: 'missing' | 'damaged' | 'unreadable'
  readonly why: string
}

export interface Verified {
  readonly rows: number
  readonly chunks: number
  readonly bytes: number
  readonly damageCount: number
  /** The first DAMAGES_NAMED_MAX. */
  readonly damages: readonly Damage[]
}

type TenantKeysById = ReadonlyMap<string, readonly TenantKeys[]>

const DAMAGES_NAMED_MAX = 1_000

export async function verifyBackup(
  reader: BackupReader,
  masterKey: Pick<MasterKey, 'open'>,
  onChunk: (bytes: number) => void = () => undefined,
): Promise<Verified> {
  const found = new Findings()
  const { rows, keys } = await verifyRows(reader, masterKey, found)
  let [chunks, bytes] = [0, 0]
  for (const file of reader.manifest.chunkFiles) {
    const entries = await found.of(file.name, () => reader.chunksOf(file))
    for (const entry of entries ?? []) {
      const sealed = await found.of(reader.nameOf(entry), () => reader.chunk(entry))
      if (sealed === null) continue
      chunks++
      bytes += sealed.length
      // Only its client has the key: its bytes were compared, and that is all.
      const isOfClient = keys.has(entry.id)
      const why = isOfClient ? null : await openingFault(keys.get(entry.tenantId), entry, sealed)
      if (why !== null) found.add({ name: reader.nameOf(entry), what: 'unreadable', why })
      onChunk(sealed.length)
    }
  }
  return { rows, chunks, bytes, ...found.found }
}

async function verifyRows(
  reader: BackupReader,
  masterKey: Pick<MasterKey, 'open'>,
  found: Findings,
): Promise<{ readonly rows: number; readonly keys: TenantKeysById }> {
  const keys = new Map<string, readonly TenantKeys[]>()
  const sum = new RowSum()
  let rows = 0
  await found.of('record', () => reader.record())
  const whole = await found.of('state', async () => {
    for await (const block of reader.rowBlocks())
      for (const { key, value } of rowsOf(block)) {
        sum.add(rowHash(key, value))
        rows++
        learnKeys(keys, masterKey, keyText(key), value)
      }
    return true
  })
  if (whole !== null && sum.bytes().toString('hex') !== reader.manifest.checksum)
    found.add({ name: 'state', what: 'damaged', why: 'its rows do not add up to the checksum of the cut' })
  return { rows, keys }
}

/** A tenant whose keys were destroyed, or are sealed under a key that is not here, has none; one whose exchange was given up has two. */
function learnKeys(
  keys: Map<string, readonly TenantKeys[]>,
  masterKey: Pick<MasterKey, 'open'>,
  key: string,
  value: Buffer,
): void {
  const kind = kindOf(key)
  if (kind === 'chunk') {
    const chunk = decodeRow(key as RowKey<ChunkRecord>, value)
    if (keyVersionOf(chunk) === CUSTOMER_KEY_VERSION) keys.set(chunk.id, [])
  } else if (kind === 'tenant') {
    const tenant = decodeRow(key as RowKey<TenantRecord>, value)
    const { id, dataKey, dedupKey, formerKey } = tenant
    const dedup: SealedKey = [dedupKey, tenantDedupKey(id)]
    const current = openKeys(masterKey, [dataKey, tenantDataKey(id, dataKeyVersionOf(tenant))], dedup)
    const former =
      formerKey === undefined
        ? []
        : openKeys(masterKey, [formerKey.dataKey, tenantDataKey(id, formerKey.version)], dedup)
    keys.set(id, [...current, ...former])
  } else if (kind === 'auditKeys') {
    const { dataKey, dedupKey } = decodeRow(key as RowKey<AuditKeysRecord>, value)
    keys.set(AUDIT_OWNER, openKeys(masterKey, [dataKey, auditDataKey()], [dedupKey, auditDedupKey()]))
  }
}

type SealedKey = readonly [Uint8Array, string]

function openKeys(
  masterKey: Pick<MasterKey, 'open'>,
  data: SealedKey,
  dedup: SealedKey,
): readonly TenantKeys[] {
  try {
    return [TenantKeys.fromBytes(masterKey.open(...data), masterKey.open(...dedup))]
  } catch {
    return []
  }
}

/** Null: the chunk opens under one of the keys, and its plain bytes are those that its id names. */
async function openingFault(
  keys: readonly TenantKeys[] = [],
  entry: ChunkEntry,
  sealed: Buffer,
): Promise<string | null> {
  let fault: string | null = 'no key of its tenant opens under the master keys here'
  for (const one of keys) {
    fault = await faultUnder(one, entry, sealed)
    if (fault === null) return null
  }
  return fault
}

async function faultUnder(
  keys: TenantKeys,
  { id, size, sealedSize }: ChunkEntry,
  sealed: Buffer,
): Promise<string | null> {
  const plain: Buffer[] = []
  try {
    const chunk = { keys, id, size, sealedSize }
    const layout = layoutOf(chunk, sealed.subarray(0, layoutBytesOf(chunk)))
    const frames = once(Uint8Array.from(sealed.subarray(layout.offsetOf(0))))
    const span = { first: 0, end: frameCountOf(size) }
    for await (const piece of openFrames(frames, layout, span)) plain.push(Buffer.from(piece))
  } catch (error) {
    if (!(error instanceof SealBrokenError)) throw error
    return error.message
  }
  return keys.chunkIdOf(...plain) === id ? null : 'it opens to other bytes than its id names'
}

class Findings {
  #count = 0
  readonly #damages: Damage[] = []

  get found(): Pick<Verified, 'damageCount' | 'damages'> {
    return { damageCount: this.#count, damages: this.#damages }
  }

  add(damage: Damage): void {
    this.#count++
    if (this.#damages.length < DAMAGES_NAMED_MAX) this.#damages.push(damage)
  }

  /** Null: it is damaged, and was noted. Throws what says nothing about the backup. */
  async of<T>(name: string, read: () => Promise<T>): Promise<T | null> {
    try {
      return await read()
    } catch (error) {
      const what = damageOf(error)
      if (what === null) throw error
      this.add({ name, what, why: error instanceof Error ? error.message : String(error) })
      return null
    }
  }
}
