/**
 * The manifest of a backup: what it holds, with a digest of each of its files. docs/formats/backup.md
 *
 *   one line of JSON, a line feed, HMAC-SHA256 of the line in hex, a line feed
 *
 * Owns: its shape, its seal. Knows nothing of: targets. Rules: it is written last, so a backup without one does not count; nothing of it is used
 * before its seal agrees, except the sealed key, which opens under the master key alone.
 */
import { timingSafeEqual } from 'node:crypto'
import type { MasterKey } from '../../access/master-key.ts'
import type { TenantId } from '../../state-machine/base/record-ids.ts'
import { TargetCorrupt, TargetRefused } from '../targets/target.ts'
import { manifestSeal } from './sealed-file.ts'

const FORMAT = 1
/** Of the text of a manifest. Bytes. */
export const MANIFEST_BYTES_MAX: number = 64 * 1024 * 1024

/** A sealed file; `name` is relative to the folder of the backup. */
export interface BackupFile {
  readonly name: string
  readonly size: number
  /** SHA-256 of the sealed file, hex. */
  readonly sha256: string
}

export interface ChunkFile extends BackupFile {
  readonly shard: string
  readonly chunks: number
  /** Of the sealed chunks. */
  readonly bytes: number
}

/** What is known when the metadata has been written and no chunk was looked at. */
export interface BackupCut {
  readonly format: typeof FORMAT
  readonly backupId: string
  readonly clusterId: string
  /** It holds this tenant alone. Absent: the whole cluster. */
  readonly tenantId?: TenantId
  /** Of the program that wrote it. */
  readonly version: string
  /** Cluster time when the cut was taken. ms since 1970 */
  readonly cutAt: number
  /** The last entry of the log that the cut contains. */
  readonly index: number
  readonly term: number
  readonly featureLevel: number
  /** Sum over its rows; of a whole cluster the one on which nodes agree. docs/formats/row.md, hex */
  readonly checksum: string
  readonly rows: number
  readonly chunks: number
  /** Of all sealed chunks that the cut names. */
  readonly chunkBytes: number
  readonly attempt: string
  /** The record of the machine. */
  readonly record: BackupFile
  readonly state: readonly BackupFile[]
  readonly chunkFiles: readonly ChunkFile[]
  /** The key of the backup, sealed under the master key. Base64 */
  readonly key: string
}

export interface Manifest extends BackupCut {
  readonly startedAt: number
  readonly finishedAt: number
  /** What was sent for this backup; the target had the rest. */
  readonly sentChunks: number
  readonly sentBytes: number
  /** Chunks that no copy could provide: names in the target, the first MISSING_NAMED_MAX of them. */
  readonly missing: readonly string[]
  readonly missingCount: number
}

export const MISSING_NAMED_MAX = 1_000

/** Null: the whole cluster. */
export const scopeOf = ({ tenantId }: Pick<BackupCut, 'tenantId'>): TenantId | null => tenantId ?? null

export const backupKeyContext = (backupId: string): string => `backup/${backupId}/key`

export function encodeManifest(manifest: BackupCut, backupKey: Uint8Array): Buffer {
  const line = JSON.stringify(manifest)
  return Buffer.from(`${line}\n${manifestSeal(backupKey, line)}\n`)
}

export interface OpenedManifest<M extends BackupCut = Manifest> {
  readonly manifest: M
  readonly backupKey: Uint8Array
}

/** Throws TargetCorrupt, or TargetRefused when no master key here opens it. */
export function decodeManifest<M extends BackupCut>(
  name: string,
  bytes: Uint8Array,
  masterKey: Pick<MasterKey, 'open'>,
): OpenedManifest<M> {
  const [line = '', seal = '', ...rest] = Buffer.from(bytes).toString('utf8').split('\n')
  const manifest = parsed<M>(name, line)
  const backupKey = openKey(name, manifest, masterKey)
  const [given, right] = [Buffer.from(seal), Buffer.from(manifestSeal(backupKey, line))]
  if (given.length !== right.length || !timingSafeEqual(given, right))
    throw new TargetCorrupt(`${name} was changed: its seal does not agree`)
  if (rest.join('\n') !== '') throw new TargetCorrupt(`${name} was changed: it does not end behind its seal`)
  return { manifest, backupKey }
}

function parsed<M extends BackupCut>(name: string, line: string): M {
  let manifest: unknown
  try {
    manifest = JSON.parse(line)
  } catch (cause) {
    throw new TargetCorrupt(`${name} is no manifest: it is not JSON`, { cause })
  }
  const { format, backupId, key } = (manifest ?? {}) as Partial<M>
  if (typeof backupId !== 'string' || typeof key !== 'string')
    throw new TargetCorrupt(`${name} is no manifest: it names no backup and no key`)
  if (format !== FORMAT)
    throw new TargetCorrupt(
      `${name} has format ${String(format)}, this version knows ${FORMAT}: use a later version`,
    )
  return manifest as M
}

function openKey(name: string, { backupId, key }: BackupCut, masterKey: Pick<MasterKey, 'open'>): Uint8Array {
  try {
    return masterKey.open(Buffer.from(key, 'base64'), backupKeyContext(backupId))
  } catch (cause) {
    throw new TargetRefused(
      `${name} does not open under any master key of security.master_key_file: name the key file of the cluster that made it`,
      { cause },
    )
  }
}
