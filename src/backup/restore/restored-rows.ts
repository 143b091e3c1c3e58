/**
 * What becomes of each row when the state of one cluster begins another one.
 *
 * Owns: which rows speak of nodes, processes and copies of the old cluster. Knows nothing of: targets, disks. No I/O.
 * Rules: it is a function of the rows, the founders and the chunks that are missing in the target, so every founder makes the same rows; rows come in the
 * order of their keys; what clients stored is not changed; no backup of the new cluster starts before an operator wants it.
 */
import type { BackupScheduleRecord } from '../../state-machine/backup-plans/records.ts'
import type { ChunkRecord, UploadSessionRecord } from '../../state-machine/chunks/records.ts'
import { chunkKeys, chunkRanges } from '../../state-machine/chunks/keys.ts'
import { isFinished } from '../../state-machine/long-operations/operations.ts'
import { longOperationKeys } from '../../state-machine/long-operations/keys.ts'
import type { LongOperation } from '../../state-machine/long-operations/records.ts'
import { memberKeys } from '../../state-machine/members/keys.ts'
import type { FirstMember, MembersRecord } from '../../state-machine/members/records.ts'
import { SEPARATOR } from '../../state-machine/base/row-key.ts'
import type { RowTypes } from '../../state-machine/rows.ts'
import { tenantKeys } from '../../state-machine/tenants/keys.ts'
import type { AdminTokenRecord, ClusterKeyRecord } from '../../state-machine/tenants/records.ts'
import type { UsageRecord } from '../../state-machine/usage/records.ts'

export interface RestoredRowsParts {
  /** The founders that keep copies of this chunk. */
  readonly placement: (chunkId: string) => readonly string[]
  /** Chunks without bytes in the target, by `<chunk id>.<checksum>`. */
  readonly missing: ReadonlySet<string>
  readonly founders: readonly FirstMember[]
  /** Of the last entry of the cut: its place, and when operations of the old cluster count as ended, in ms since 1970. */
  readonly index: number
  readonly time: number
}

/** Of nodes, processes, votes, copies and sessions of the old cluster. */
const GONE: ReadonlySet<string> = new Set([
  memberKeys.clusterRecoveries(),
  chunkKeys.repairTotal(),
  tenantKeys.adminSessions(),
])
const GONE_RANGES = [chunkRanges.repairs(), chunkRanges.drops(), chunkRanges.nodeUploadSessions()]
/** A lost member that never was: the holder of chunks without bytes, so that no upload counts on them. */
export const NOWHERE = 'not-in-the-backup'
const ENDED = 'ended: the cluster was restored from a backup'

type Kind = (key: string, row: object) => object | null | 'same'

export class RestoredRows {
  readonly #parts: RestoredRowsParts
  readonly #copyBytes = new Map<string, number>()
  readonly #ended: string[] = []
  /** Ids of admin tokens; their rows come before those of hashes. */
  readonly #sessions = new Set<string>()
  /** Chunks come before the rows of members. */
  #isNowhereUsed = false
  #isLeavingDone = false
  readonly #kinds: ReadonlyMap<string, Kind>

  constructor(parts: RestoredRowsParts) {
    this.#parts = parts
    this.#kinds = new Map<string, Kind>([
      ['chunk', (_, row) => this.#chunk(row as ChunkRecord)],
      [memberKeys.members(), () => this.#members()],
      [memberKeys.leavingNodes(), () => null],
      ['usage', (key, row) => this.#usage(key, row as UsageRecord)],
      ['session', (_, row) => ({ ...(row as UploadSessionRecord), closed: true })],
      ['operation', (_, row) => this.#operation(row as LongOperation)],
      [longOperationKeys.operationList(), (_, row) => this.#operationList(row as OperationList)],
      ['backupSchedule', (_, row) => ({ ...(row as BackupScheduleRecord), isPaused: true, run: null })],
      // Restores into the old cluster have ended too.
      ['bucket', (_, row) => unmarked(row)],
      ['tenant', (_, row) => unmarked(row)],
      // People log in at the new cluster.
      ['adminToken', (_, row) => this.#adminToken(row as AdminTokenRecord)],
      ['adminTokenHash', (_, row) => this.#adminTokenHash(row as RowTypes['adminTokenHash'])],
      [tenantKeys.clusterKey(), (_, row) => withoutHolders(row as ClusterKeyRecord)],
    ])
  }

  /** Null: the row goes. The same row: it stays as it is. */
  take(key: string, row: () => object): object | null | 'same' {
    if (GONE.has(key) || GONE_RANGES.some(({ start, end }) => key >= start && key < end)) return null
    const kind = this.#kinds.get(key.split(SEPARATOR, 1)[0] ?? '')
    return kind === undefined ? 'same' : kind(key, row())
  }

  /** A row that has to stand before this key and was not in the cut. */
  before(key: string): { readonly key: string; readonly row: object } | null {
    const leaving = memberKeys.leavingNodes()
    if (this.#isLeavingDone || !this.#isNowhereUsed || key <= leaving) return null
    this.#isLeavingDone = true
    return { key: leaving, row: { nodes: [NOWHERE] } }
  }

  /** A chunk without references has no bytes in the backup either; the collection removes its row. */
  #chunk(row: ChunkRecord): ChunkRecord {
    const isHere = row.references > 0 && !this.#parts.missing.has(`${row.id}.${row.checksum}`)
    if (!isHere) this.#isNowhereUsed = true
    const replicas = isHere ? this.#parts.placement(row.id) : [NOWHERE]
    const bytes = this.#copyBytes.get(row.tenantId) ?? 0
    this.#copyBytes.set(row.tenantId, bytes + row.sealedSize * replicas.length)
    return { ...row, replicas, owed: [] }
  }

  #adminToken({ tokenId, session }: AdminTokenRecord): null | 'same' {
    if (session === undefined) return 'same'
    this.#sessions.add(tokenId)
    return null
  }

  #adminTokenHash({ tokenId }: RowTypes['adminTokenHash']): null | 'same' {
    return this.#sessions.has(tokenId) ? null : 'same'
  }

  #usage(key: string, row: UsageRecord): UsageRecord {
    return { ...row, copyBytes: this.#copyBytes.get(key.split(SEPARATOR)[1] ?? '') ?? 0 }
  }

  /** As if they had been founded at the end of the cut. */
  #members(): MembersRecord {
    const { founders, index, time } = this.#parts
    const reason = 'a backup did not have the chunks that it names'
    const nowhere = { nodeId: NOWHERE, how: 'lost', incarnation: null, reason, at: time, index } as const
    return {
      members: founders.map((member) => ({
        ...member,
        incarnation: null,
        version: null,
        phase: 'active',
        addedAt: time,
      })),
      departed: this.#isNowhereUsed ? [nowhere] : [],
      configIndex: index,
      change: null,
    }
  }

  /** What moved copies or votes of the old cluster has ended; the deletion of a tenant continues. */
  #operation(row: LongOperation): LongOperation {
    if (isFinished(row.status) || row.kind === 'tenantDeletion') return row
    this.#ended.push(row.operationId)
    const progress = { ...row.progress, tasksOpen: 0 }
    return { ...row, status: 'cancelled', phase: ENDED, finishedAt: this.#parts.time, progress }
  }

  #operationList({ unfinished, finished }: OperationList): OperationList {
    return {
      unfinished: unfinished.filter((id) => !this.#ended.includes(id)),
      finished: [...finished, ...unfinished.filter((id) => this.#ended.includes(id))],
    }
  }
}

function unmarked(row: { readonly restoring?: string }): object | 'same' {
  const { restoring, ...free } = row
  return restoring === undefined ? 'same' : free
}

interface OperationList {
  readonly unfinished: readonly string[]
  readonly finished: readonly string[]
}

function withoutHolders({ masterKeyFingerprint }: ClusterKeyRecord): ClusterKeyRecord {
  return { masterKeyFingerprint }
}
