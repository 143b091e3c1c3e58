/**
 * How the audit log is stored: rows that wait for a segment, segments, and segments with too few copies.
 *
 * Owns: what is counted, and how much of it. Knows nothing of: what rows say, who asks.
 * Rule: bounded work, regardless of the size of the log: chunk rows of segments are looked at up to CHUNKS_MAX, in the order of their ids,
 * which are random, so the first ones are a fair sample.
 */
import { rowsBegin } from '../../state-machine/audit/audit-segments.ts'
import { AUDIT_OWNER } from '../../state-machine/base/record-ids.ts'
import { COMMAND_LEVELS } from '../../state-machine/command-levels.ts'
import { memberKeys } from '../../state-machine/members/keys.ts'
import type { ChunkRecord } from '../../state-machine/chunks/records.ts'
import type { View } from '../../state-machine/base/view.ts'
import { auditHead } from '../../state-machine/audit/append.ts'
import { auditRowKeys } from '../../state-machine/audit/keys.ts'
import type { Page, RowReader } from '../../store/reads/state-reader.ts'
import { chunkRanges } from '../../state-machine/chunks/keys.ts'
import { usageOf } from '../../state-machine/usage/usage.ts'

const PAGE = 1_000
const CHUNKS_MAX = 20_000

/** Links that lie in rows of the state. */
export interface UnsealedLinks {
  readonly links: number
  /** When the oldest of them was recorded, ms since 1970; null: there are none. */
  readonly oldest: number | null
}

export interface AuditStatus {
  readonly unsealed: UnsealedLinks
  /** False: the feature level of the cluster knows no segments yet, and all rows stay in the state. */
  readonly isSealing: boolean
  /** ms since 1970, by the confirmed time of the cluster. */
  readonly now: number
  /** Chunks of segments, trimmed ones until they are collected. */
  readonly segments: number
  /** Sealed bytes of one copy of each. */
  readonly bytes: number
  /** Of so many of the segments: those that owe a copy, and those whose copies are listed only on lost members. By the rows: no copy is read. */
  readonly lookedAt: number
  readonly incomplete: number
  readonly lost: number
}

export interface AuditStatusParts {
  readonly cluster: {
    readonly membership: { local(): { readonly stateLevel: number } }
    readonly time: { status(): { readonly confirmedTime: number } }
  }
  readonly state: RowReader
}

export function unsealedLinks(view: View): UnsealedLinks {
  const head = auditHead(view)
  const { first } = rowsBegin(head)
  return { links: head.next - first, oldest: view.get(auditRowKeys.auditLink(first))?.time ?? null }
}

export function isSealing({ membership }: Pick<AuditStatusParts['cluster'], 'membership'>): boolean {
  return membership.local().stateLevel >= COMMAND_LEVELS.sealAudit
}

/** Of the state as this node has it. Throws Condition while that is being replaced. */
export async function auditStatus({ cluster, state }: AuditStatusParts): Promise<AuditStatus> {
  const { chunkCount, storedBytes } = usageOf(state, AUDIT_OWNER)
  const gone = state.get(memberKeys.leavingNodes())?.nodes ?? []
  const counts = { lookedAt: 0, incomplete: 0, lost: 0 }
  for (let after: string | null = ''; after !== null && counts.lookedAt < CHUNKS_MAX; ) {
    const page: Page<ChunkRecord> = await state.page(chunkRanges.chunksOf(AUDIT_OWNER), {
      after,
      limit: PAGE,
    })
    for (const chunk of page.items) count(counts, chunk, gone)
    after = page.next
  }
  return {
    unsealed: unsealedLinks(state),
    isSealing: isSealing(cluster),
    now: cluster.time.status().confirmedTime,
    segments: chunkCount,
    bytes: storedBytes,
    ...counts,
  }
}

function count(
  counts: { lookedAt: number; incomplete: number; lost: number },
  { references, replicas, owed }: Pick<ChunkRecord, 'references' | 'replicas' | 'owed'>,
  gone: readonly string[],
): void {
  // Trimmed, and not collected yet.
  if (references === 0) return
  counts.lookedAt++
  if (replicas.every((node) => gone.includes(node))) counts.lost++
  else if (owed.length > 0) counts.incomplete++
}
