/**
 * How the files of backups are called in a target. docs/formats/backup.md
 *
 *   backups/<cluster>/<backup id>/manifest.json
 *   backups/<cluster>/<backup id>/<attempt>/{record,state-<number>,chunks-<shard>,cut.json}
 *   chunks/<cluster>/<shard>/<chunk id>.<checksum>
 *
 * Owns: the spelling. Rule: a chunk is called by its id and by the SHA-256 of its sealed bytes, so equal names have equal bytes, and each backup
 * of the cluster shares them.
 */
import { randomBytes } from 'node:crypto'

/** The first two hex digits of chunk ids, in order. */
export const SHARDS: readonly string[] = Array.from({ length: 256 }, (_, n) =>
  n.toString(16).padStart(2, '0'),
)

const BACKUP_ID = /^[0-9]{8}t[0-9]{6}z-[0-9a-f]{8}$/
const MANIFEST = 'manifest.json'

/** Ids sort by the time of their request, to the second. */
export function newBackupId(now: Date): string {
  const time = now
    .toISOString()
    .replace(/[-:]|\.[0-9]+/g, '')
    .toLowerCase()
  return `${time}-${randomBytes(4).toString('hex')}`
}

/** Of another backup of the same time. */
export function otherBackupId(backupId: string): string {
  return `${backupId.slice(0, -8)}${randomBytes(4).toString('hex')}`
}

export function isBackupId(text: string): boolean {
  return BACKUP_ID.test(text)
}

export function newAttempt(): string {
  return randomBytes(6).toString('hex')
}

/** Names in targets have no upper-case letters; the manifest holds the id as it is. */
export const clusterFolder = (clusterId: string): string => clusterId.toLowerCase()

export const BACKUPS = 'backups/'

export const backupsFolder = (clusterId: string): string => `${BACKUPS}${clusterFolder(clusterId)}/`

export const backupFolder = (clusterId: string, backupId: string): string =>
  `${backupsFolder(clusterId)}${backupId}/`

export const manifestName = (clusterId: string, backupId: string): string =>
  backupFolder(clusterId, backupId) + MANIFEST

/** Null: it is the name of no manifest. `cluster` is the id in lower case. */
export function manifestIn(name: string): { readonly cluster: string; readonly backupId: string } | null {
  const [, cluster = '', backupId = '', file, ...rest] = name.split('/')
  return name.startsWith(BACKUPS) && isBackupId(backupId) && file === MANIFEST && rest.length === 0
    ? { cluster, backupId }
    : null
}

export const shardFolder = (clusterId: string, shard: string): string =>
  `chunks/${clusterFolder(clusterId)}/${shard}/`

export function chunkName(
  clusterId: string,
  { id, checksum }: { readonly id: string; readonly checksum: string },
): string {
  return `${shardFolder(clusterId, id.slice(0, 2))}${id}.${checksum}`
}
