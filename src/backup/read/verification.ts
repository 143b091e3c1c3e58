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
import type { InlineBodyRecord } from '../../state-machine/bodies/records.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import type { ChunkRecord } from '../../state-machine/chunks/records.ts'
import { kindOf, type RowKey, SEPARATOR } from '../../state-machine/base/row-key.ts'
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
import type { ChunkFile } from '../format/manifest.ts'
import { once } from '../run/sealed-files.ts'
import { type BackupReader, damageOf } from './backup-reader.ts'
import { ChunkIds } from './chunk-ids.ts'

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

export const DAMAGES_NAMED_MAX = 1_000

export async function verifyBackup(
  reader: BackupReader,
  masterKey: Pick<MasterKey, 'open'>,
  onChunk: (bytes: number) => void = () => undefined,
): Promise<Verified> {
  const found: Damage[] = []
  let count = 0
  const note = (damages: readonly Damage[]): void => {
    count += damages.length
    found.push(...damages.slice(0, DAMAGES_NAMED_MAX - found.length))
  }
  const verification = new Verification(reader, masterKey)
  note(await verification.learn())
  let [chunks, bytes] = [0, 0]
  for (const file of reader.manifest.chunkFiles) {
    const { entries, damages } = await verification.list(file)
    note(damages)
    for (const entry of entries) {
      const checked = await verification.check(entry)
      if (checked.damage !== null) note([checked.damage])
      if (checked.bytes === 0) continue
      chunks++
      bytes += checked.bytes
      onChunk(checked.bytes)
    }
  }
  return { rows: verification.rows, chunks, bytes, damageCount: count, damages: found }
}

/** One backup, piece by piece. Its methods throw what says nothing about the backup, such as the error of a target that is away. */
export class Verification {
  /** That were read. */
  rows = 0
  readonly #reader: BackupReader
  readonly #masterKey: Pick<MasterKey, 'open'>
  readonly #keys = new Map<string, readonly TenantKeys[]>()
  /** Of one that is taken for such a chunk the bytes are compared all the same. */
  readonly #ofClients = new ChunkIds()
  /** False: rows are damaged, so nothing can be said about keys, and only bytes are compared. */
  #areKeysKnown = true

  constructor(reader: BackupReader, masterKey: Pick<MasterKey, 'open'>) {
    this.#reader = reader
    this.#masterKey = masterKey
  }

  /** Before anything else: reads all rows, and takes the keys from them. `check` throws when the work is not wanted any more. */
  async learn(check: () => void = () => undefined): Promise<readonly Damage[]> {
    const damages: Damage[] = []
    const note = (damage: Damage | null): boolean => damage !== null && damages.push(damage) > 0
    const sum = new RowSum()
    const small = new SmallBodies()
    note(await damageIn('record', () => this.#reader.record()))
    const isBroken = note(
      await damageIn('state', async () => {
        for await (const block of this.#reader.rowBlocks()) {
          check()
          for (const { key, value } of rowsOf(block)) {
            sum.add(rowHash(key, value))
            this.rows++
            this.#learn(keyText(key), value)
            small.take(keyText(key), value)
          }
        }
      }),
    )
    this.#areKeysKnown = !isBroken
    if (isBroken) return damages
    if (sum.bytes().toString('hex') !== this.#reader.manifest.checksum)
      damages.push({
        name: 'state',
        what: 'damaged',
        why: 'its rows do not add up to the checksum of the cut',
      })
    return [...damages, ...small.unreadable()]
  }

  async list(
    file: ChunkFile,
  ): Promise<{ readonly entries: readonly ChunkEntry[]; readonly damages: readonly Damage[] }> {
    let entries: readonly ChunkEntry[] = []
    const damage = await damageIn(file.name, async () => void (entries = await this.#reader.chunksOf(file)))
    return { entries, damages: damage === null ? [] : [damage] }
  }

  /** `bytes` 0: it could not be read. */
  async check(entry: ChunkEntry): Promise<{ readonly bytes: number; readonly damage: Damage | null }> {
    let sealed: Buffer | null = null
    const name = this.#reader.nameOf(entry)
    const damage = await damageIn(name, async () => void (sealed = await this.#reader.chunk(entry)))
    if (sealed === null) return { bytes: 0, damage }
    // Only its client has the key: its bytes were compared, and that is all.
    const isOpened = this.#areKeysKnown && !this.#ofClients.has(entry.id)
    const why = !isOpened ? null : await openingFault(this.#keys.get(entry.tenantId), entry, sealed)
    return { bytes: entry.sealedSize, damage: why === null ? null : { name, what: 'unreadable', why } }
  }

  #learn(key: string, value: Buffer): void {
    const kind = kindOf(key)
    if (kind === 'chunk') {
      const chunk = decodeRow(key as RowKey<ChunkRecord>, value)
      if (keyVersionOf(chunk) === CUSTOMER_KEY_VERSION) this.#ofClients.add(chunk.id)
    } else learnKeys(this.#keys, this.#masterKey, key, value)
  }
}

/** Null: it is whole. Throws what says nothing about the backup. */
async function damageIn(name: string, read: () => Promise<unknown>): Promise<Damage | null> {
  try {
    await read()
    return null
  } catch (error) {
    const what = damageOf(error)
    if (what === null) throw error
    return { name, what, why: error instanceof Error ? error.message : String(error) }
  }
}

/**
 * Which versions of the data key small bodies need, and which their tenants hold. Rows of bodies come between those of buckets and those of tenants, so the
 * comparison is made behind the last row.
 */
class SmallBodies {
  readonly #owners = new Map<string, string>()
  /** By bucket: the versions, and how many bodies have each. */
  readonly #needed = new Map<string, Map<number, number>>()
  readonly #held = new Map<string, ReadonlySet<number>>()

  take(key: string, value: Buffer): void {
    const kind = kindOf(key)
    if (kind === 'bucket') {
      const { id, tenantId } = decodeRow(key as RowKey<BucketRecord>, value)
      this.#owners.set(id, tenantId)
    } else if (kind === 'inlineBody') {
      const [, bucket = ''] = key.split(SEPARATOR, 2)
      const version = keyVersionOf(decodeRow(key as RowKey<InlineBodyRecord>, value))
      const versions = this.#needed.get(bucket) ?? new Map<number, number>()
      this.#needed.set(bucket, versions.set(version, (versions.get(version) ?? 0) + 1))
    } else if (kind === 'tenant') {
      const tenant = decodeRow(key as RowKey<TenantRecord>, value)
      const { id, formerKey } = tenant
      const former = formerKey === undefined ? [] : [formerKey.version]
      this.#held.set(id, new Set([dataKeyVersionOf(tenant), ...former]))
    }
  }

  /** Of a bucket that is gone nothing is read any more. */
  unreadable(): readonly Damage[] {
    const damages: Damage[] = []
    for (const [bucket, versions] of this.#needed) {
      const owner = this.#owners.get(bucket)
      const held = owner === undefined ? undefined : this.#held.get(owner)
      for (const [version, count] of versions) {
        if (held === undefined || held.has(version)) continue
        const why = `${count} small bodies of tenant "${owner}" are sealed with version ${version} of its key, which it does not hold`
        damages.push({ name: `state, bucket ${bucket}`, what: 'unreadable', why })
      }
    }
    return damages
  }
}

/** A tenant whose keys were destroyed, or are sealed under a key that is not here, has none; one whose exchange was given up has two. */
function learnKeys(
  keys: Map<string, readonly TenantKeys[]>,
  masterKey: Pick<MasterKey, 'open'>,
  key: string,
  value: Buffer,
): void {
  const kind = kindOf(key)
  if (kind === 'tenant') {
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
