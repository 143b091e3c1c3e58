/**
 * verifyAuditChain: authorize -> place of the page -> a bounded number of segments and links, checked as `holdfast audit verify` checks them.
 *
 * Owns: how much one request checks, and where the next one continues. Rules: the end of the chain is that of the first request, so a check ends however fast the log
 * grows; each page continues from the hash at which the one before ended, so all pages together check every link; nothing is read for a client that has left.
 */
import { adminToken } from '../../access/rights.ts'
import { auditHead } from '../../state-machine/audit/append.ts'
import type { ChainPlace } from '../../state-machine/audit/audit-chain.ts'
import { AUDIT_SEGMENT_LINKS_MAX } from '../../state-machine/audit/records.ts'
import { openContinuationToken, sealContinuationToken } from '../base/continuation-token.ts'
import { adminOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { noTarget } from '../base/targets.ts'
import { type AuditWalkParts, forwards, untrimmed } from './audit-walk.ts'
import { LogCheck, type LogFault } from './log-check.ts'

export const VERIFY_SEGMENTS_DEFAULT = 8
export const VERIFY_SEGMENTS_MAX = 32
const CONTEXT = ['verifyAuditChain']

export interface VerifyChainInput {
  /** Segments of a page; so many links that no segment holds as a segment may have count as one. 1..VERIFY_SEGMENTS_MAX */
  readonly limit?: number
  readonly continuationToken?: string
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal
}

/** The number of links and the hash of the last. */
type ChainEnd = Pick<ChainPlace, 'next' | 'hash'>

export interface VerifiedPart {
  readonly segments: number
  readonly links: number
  readonly rows: number
  /** The oldest link that is kept. */
  readonly first: number
  /** The first link that was checked, and the one after the last. */
  readonly from: number
  readonly to: number
  readonly end: ChainEnd
  readonly firstFault: LogFault | null
  /** Null: this part reaches the end. */
  readonly nextContinuationToken: string | null
}

export const verifyAuditChain = adminOperation(
  {
    id: 'verifyAuditChain',
    requires: adminToken('auditor', 'cluster'),
    refuses: ['invalid_continuation_token'],
    target: noTarget,
  },
  async (services, _principal, input: VerifyChainInput): Promise<VerifiedPart> => {
    const { limit, continuationToken, signal } = input
    const segmentsMax = Math.min(Math.max(limit ?? VERIFY_SEGMENTS_DEFAULT, 1), VERIFY_SEGMENTS_MAX)
    const { next, hash } = auditHead(services.state)
    const start: Start =
      continuationToken === undefined
        ? { end: { next, hash }, from: null }
        : startIn(openContinuationToken(services, CONTEXT, continuationToken))
    const part = await untrimmed(
      services,
      (parts) => verifyPart(parts, { ...start, segmentsMax, signal }),
      ({ from }) => from,
    )
    return partOf(services, part)
  },
)

interface Start {
  readonly end: ChainEnd
  /** Null: at the oldest link that is kept. */
  readonly from: ChainPlace | null
}

interface Asked extends Start {
  readonly segmentsMax: number
  readonly signal: AbortSignal
}

type CheckedPart = Omit<VerifiedPart, 'nextContinuationToken'> & {
  /** Null: the end was reached. */
  readonly place: ChainPlace | null
}

/** Throws the reason of the signal, and Condition. */
async function verifyPart(parts: AuditWalkParts, asked: Asked): Promise<CheckedPart> {
  const { end, segmentsMax, signal } = asked
  const { first, anchor } = auditHead(parts.state)
  // What was trimmed since the page before is not checked any more.
  const from = asked.from !== null && asked.from.next >= first ? asked.from : null
  const begin = from?.next ?? first
  const check = new LogCheck({ first, anchor, ...end }, { from })
  const checked = ({ isAtEnd }: { readonly isAtEnd: boolean }): CheckedPart => {
    const { segments, links, rows, place, firstFault } = check
    const counts = { segments, links, rows, firstFault }
    return { ...counts, first, from: begin, to: place.next, end, place: isAtEnd ? null : place }
  }
  // All of it was trimmed.
  if (begin > end.next) return checked({ isAtEnd: true })
  let units = segmentsMax * AUDIT_SEGMENT_LINKS_MAX
  for await (const step of forwards(parts, begin, end.next)) {
    signal.throwIfAborted()
    if (!check.isWithin(step)) {
      if (units <= 0) {
        check.pause()
        return checked({ isAtEnd: false })
      }
      units -= step.kind === 'link' ? 1 : AUDIT_SEGMENT_LINKS_MAX
    }
    check.take(step)
  }
  check.finish()
  return checked({ isAtEnd: true })
}

function partOf(services: Services, { place, ...part }: CheckedPart): VerifiedPart {
  if (place === null) return { ...part, nextContinuationToken: null }
  const position = JSON.stringify([place.next, place.hash, place.time, part.end.next, part.end.hash])
  return { ...part, nextContinuationToken: sealContinuationToken(services, CONTEXT, position) }
}

/** It was sealed by this cluster, so it is what partOf() wrote. */
function startIn(position: string): Start {
  const [next, hash, time, endNext, endHash] = JSON.parse(position) as [
    number,
    string,
    number,
    number,
    string,
  ]
  return { from: { next, hash, time }, end: { next: endNext, hash: endHash } }
}
