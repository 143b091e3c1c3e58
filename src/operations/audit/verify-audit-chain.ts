/**
 * verifyAuditChain: authorize -> place of the page -> a bounded number of segments and links, checked as `holdfast audit verify` checks them.
 *
 * Owns: how much one request checks, and where the next one continues. Rules: the end of the chain is that of the first request, so a check ends however fast the log
 * grows; each page continues from the hash at which the one before ended, so all pages together check every link; nothing is read for a client that has left.
 */
import { Condition } from '../../../cluster/index.ts'
import { adminToken } from '../../access/rights.ts'
import { auditHead } from '../../state-machine/audit/append.ts'
import type { ChainPlace } from '../../state-machine/audit/audit-chain.ts'
import { AUDIT_SEGMENT_LINKS_MAX } from '../../state-machine/audit/records.ts'
import { openContinuationToken, sealContinuationToken } from '../base/continuation-token.ts'
import { adminOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { noTarget } from '../base/targets.ts'
import { type AuditWalkParts, forwards } from './audit-walk.ts'
import { LogCheck, type LogFault } from './log-check.ts'

export const VERIFY_SEGMENTS_DEFAULT = 8
export const VERIFY_SEGMENTS_MAX = 32
/** The log is trimmed while it is read: then the page begins again. */
const TRIES_MAX = 3
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
    const { state, auditSegments: segments } = services
    const { next, hash } = auditHead(state)
    const start: Start =
      continuationToken === undefined
        ? { end: { next, hash }, from: null }
        : startIn(openContinuationToken(services, CONTEXT, continuationToken))
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const asked = { ...start, segmentsMax, signal }
      const part = await segments.walk(() => verifyPart({ state, segments }, asked))
      if (auditHead(state).first <= part.from) return partOf(services, part)
    }
    throw new Condition('slow_down', 'The audit log was trimmed while it was read; ask again')
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
  const facts = { first, from: begin, end }
  const factsOf = ({ segments, links, rows, place, firstFault }: LogCheck) => {
    return { ...facts, segments, links, rows, to: place.next, firstFault }
  }
  // All of it was trimmed.
  if (begin > end.next) return { ...factsOf(check), place: null }
  let units = segmentsMax * AUDIT_SEGMENT_LINKS_MAX
  for await (const step of forwards(parts, begin, end.next)) {
    signal.throwIfAborted()
    if (!check.isWithin(step)) {
      if (units <= 0) {
        check.pause()
        return { ...factsOf(check), place: check.place }
      }
      units -= step.kind === 'link' ? 1 : AUDIT_SEGMENT_LINKS_MAX
    }
    check.take(step)
  }
  check.finish()
  return { ...factsOf(check), place: null }
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
