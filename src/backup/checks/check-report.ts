/**
 * What a verification by a node has found: a sealed file beside the manifest. docs/formats/backup.md
 *
 * Owns: its name, its shape, its bounds. Rules: it names keys of objects, so it is sealed as metadata is; what was found up to a place of the work is in a file of
 * its own, which the cursor of the operation names, so another node continues with it.
 */
import { randomBytes } from 'node:crypto'
import type { LostChunk, LostVersion } from '../restore/lost-versions.ts'
import { TargetCorrupt } from '../targets/target.ts'
import type { BackupReader } from '../read/backup-reader.ts'
import { type Damage, DAMAGES_NAMED_MAX } from '../read/verification.ts'

const REPORT = 'verified'
const UNDER_WAY = 'verifying-'
/** Whose versions are searched. */
const CHUNKS_MAX = 10_000
export const VERSIONS_NAMED_MAX = 1_000

export interface CheckReport {
  readonly operationId: string
  /** ms since 1970 */
  readonly startedAt: number
  readonly finishedAt: number
  readonly rows: number
  readonly chunks: number
  readonly damageCount: number
  /** The first DAMAGES_NAMED_MAX. */
  readonly damages: readonly Damage[]
  /** Versions that need a damaged chunk; null: the rows cannot be read. */
  readonly versionCount: number | null
  /** The first VERSIONS_NAMED_MAX. */
  readonly versions: readonly LostVersion[]
  /** Of the audit log, in damaged segments. */
  readonly auditRows: number
}

/** So far. */
export interface Found {
  readonly rows: number
  readonly areRowsWhole: boolean
  readonly damages: readonly Damage[]
  readonly chunks: readonly LostChunk[]
}

export function withFound(before: Found, damages: readonly Damage[], chunks: readonly LostChunk[]): Found {
  return {
    ...before,
    damages: [...before.damages, ...damages].slice(0, DAMAGES_NAMED_MAX),
    chunks: [...before.chunks, ...chunks].slice(0, CHUNKS_MAX),
  }
}

/** Returns the name that `readFound` takes. Throws TargetError. */
export async function keepFound(reader: BackupReader, found: Found): Promise<string> {
  const name = randomBytes(6).toString('hex')
  await reader.add(UNDER_WAY + name, Buffer.from(JSON.stringify(found)))
  return name
}

/** Throws TargetError. */
export async function readFound(reader: BackupReader, name: string): Promise<Found> {
  const bytes = await reader.addition(UNDER_WAY + name)
  if (bytes === null)
    throw new TargetCorrupt(`What was found so far is not in the target any more: ${UNDER_WAY}${name}`)
  return JSON.parse(bytes.toString('utf8')) as Found
}

/** Throws TargetError. */
export async function writeReport(reader: BackupReader, report: CheckReport): Promise<void> {
  await reader.add(REPORT, Buffer.from(JSON.stringify(report)))
  await reader.removeAdditions(UNDER_WAY)
}

/** Null: no node has verified it. Throws TargetError. */
export async function readReport(reader: BackupReader): Promise<CheckReport | null> {
  const bytes = await reader.addition(REPORT)
  return bytes === null ? null : (JSON.parse(bytes.toString('utf8')) as CheckReport)
}
