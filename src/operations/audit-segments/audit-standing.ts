/**
 * How the audit log is stored: rows that wait for a segment, segments, and segments that lack copies.
 *
 * Owns: what is counted, and how much of it. Knows nothing of: what rows say, who asks.
 * Rule: bounded work, whatever the log holds: chunk rows of segments are looked at up to CHUNKS_MAX, in the order of their ids,
 * which are random, so the first ones are a fair sample.
 */
import { rowsBegin } from '../../state-machine/audit/audit-segments.ts'
import { AUDIT_OWNER } from '../../state-machine/base/record-ids.ts'
import { COMMAND_LEVELS } from '../../state-machine/command-levels.ts'
import { memberKeys } from '../../state-machine/members/keys.ts'
import type { ChunkRecord } from '../../state-machine/chunks/records.ts'
import type { AuditReader, StateReader } from '../../store/reads/state-reader.ts'

const PAGE = 1_000
const CHUNKS_MAX = 20_000

/** Links that lie in rows of the state. */
export interface UnsealedLinks {
  readonly links: number
  /** When the oldest of them was recorded, ms since 1970; null: there are none. */
  readonly oldest: number | null
}

export interface AuditStanding {
  readonly unsealed: UnsealedLinks
  /** False: the feature level of the cluster knows no segments yet, and all rows stay in the state. */
  readonly isSealing: boolean
  /** ms since 1970, by the confirmed time of the cluster. */
  readonly now: number
  /** Chunks of segments, trimmed ones until they are collected. */
  readonly segments: number
  /** Sealed bytes of one copy of each. */
  readonly bytes: number
  /** Of so many of the segments: those that owe a copy, and those whose copies are listed on lost members alone. By the rows: no copy is read. */
  readonly lookedAt: number
  readonly incomplete: number
  readonly lost: number
}

export interface StandingParts {
  readonly cluster: {
    readonly membership: { local(): { readonly stateLevel: number } }
    readonly time: { status(): { readonly confirmedTime: number } }
  }
  readonly state: Pick<StateReader, 'usage' | 'chunksOf' | 'view'> & {
    readonly audit: Pick<AuditReader, 'head' | 'link'>
  }
}

export function unsealedLinks(audit: StandingParts['state']['audit']): UnsealedLinks {
  const head = audit.head()
  const { first } = rowsBegin(head)
  return { links: head.next - first, oldest: audit.link(first)?.time ?? null }
}

export function isSealing({ membership }: Pick<StandingParts['cluster'], 'membership'>): boolean {
  return membership.local().stateLevel >= COMMAND_LEVELS.sealAudit
}

/** Of the state as this node has it. Throws Condition while that is being replaced. */
export async function auditStanding({ cluster, state }: StandingParts): Promise<AuditStanding> {
  const { chunkCount, storedBytes } = state.usage(AUDIT_OWNER)
  const gone = state.view.get(memberKeys.leavingNodes())?.nodes ?? []
  const counts = { lookedAt: 0, incomplete: 0, lost: 0 }
  for (let after: string | null = ''; after !== null && counts.lookedAt < CHUNKS_MAX; ) {
    const page: Awaited<ReturnType<typeof state.chunksOf>> = await state.chunksOf(AUDIT_OWNER, after, PAGE)
    for (const chunk of page.items) count(counts, chunk, gone)
    after = page.next
  }
  return {
    unsealed: unsealedLinks(state.audit),
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
