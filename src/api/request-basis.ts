/**
 * Small changes of objects pass no read barrier where the entry of the change decides all that the barrier is for. [record 66]
 *
 * Owns: which requests may do without, and the second attempt. Knows nothing of: what the basis means in apply.
 * Rules: only what the entry has decided is answered without a barrier. What such an attempt was refused for by rows of this node is forgotten: the
 * request passes a barrier, is proved and authorized again and served from its beginning, so that every refusal rests on fresh rows and is recorded as
 * such. There is one such attempt for each request.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Condition, StateDamagedError } from '../../cluster/index.ts'
import type { Principal } from '../access/base/principal.ts'
import { Attached } from '../base/attached.ts'
import { Refusal } from '../base/refusal.ts'
import type { Operation } from '../operations/base/operation.ts'
import type { Services } from '../operations/base/services.ts'
import { basisOf } from '../state-machine/buckets/basis.ts'
import { BASIS_LEVEL } from '../state-machine/command-levels.ts'
import { corsHeadersOf, forgetOrigin } from './cors-headers.ts'
import { Exchange } from './exchange.ts'
import { NeedsBarrier } from './needs-barrier.ts'
import { rateHeadersOf } from './rate-headers.ts'
import { RequestAudit } from './request-audit.ts'

/** A body is kept until its change is decided, and a caller whose key was revoked elsewhere may send no more than this in vain. */
const BODY_BYTES_MAX = 64 * 1024
/** Beyond so many under way at a node, requests share a barrier, which costs each of them little. */
const WITHOUT_BARRIER_MAX = 4
/** The node has counted, or the client was slow: what others have changed does not matter. */
const OF_THIS_NODE: ReadonlySet<string> = new Set(['rate_limited', 'request_timeout'])

/** `open`: this attempt passed none. `spent`: there was one, or a barrier. */
const ATTEMPTS = new Attached<FastifyRequest, 'open' | 'spent'>()

/** Of a node: its requests under way without a barrier. */
const WITHOUT_BARRIER = new Attached<Services['cluster'], number>()

interface Pair {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** Resolves behind a read barrier, or at once where the request may do without for now; `mayOmitBarrier`: as far as its form tells. Throws Condition. */
export async function passBarrier(services: Services, pair: Pair, mayOmitBarrier: boolean): Promise<void> {
  const { request, reply } = pair
  if (mayOmitBarrier && ATTEMPTS.get(request) === undefined && canOmitBarrier(services, pair)) {
    ATTEMPTS.set(request, 'open')
    countUntilClosed(services, reply)
    Exchange.of(request.raw, reply.raw).keepBody()
    return
  }
  ATTEMPTS.set(request, 'spent')
  await services.cluster.readBarrier()
}

interface Proved {
  readonly principal: Principal | null
  readonly operation: Operation
  readonly bucket: string | undefined
}

/** Follows the proof and precedes the operation. Throws NeedsBarrier where this request needs one. */
export function takeBasis({ state }: Services, request: FastifyRequest, asked: Proved): void {
  if (ATTEMPTS.get(request) !== 'open') return
  const { principal, operation, bucket } = asked
  // The entry asks for the key of a bearer token or a signature; of a signed URL it does not.
  const isAsked = principal?.kind === 'accessKey' && principal.signedUrl === null
  if (!isAsked || bucket === undefined || operation.isDecidedByEntry !== true) throw new NeedsBarrier()
  const basis = basisOf(state, { tenantId: principal.tenantId, bucket })
  if (basis === null) throw new NeedsBarrier()
  RequestAudit.of(request).basis = basis
}

/** True: serve the request once more, from its barrier on. */
export async function startsAgain(services: Services, pair: Pair, error: unknown): Promise<boolean> {
  const { request, reply } = pair
  if (ATTEMPTS.get(request) !== 'open') return false
  ATTEMPTS.set(request, 'spent')
  const exchange = Exchange.of(request.raw, reply.raw)
  const audit = RequestAudit.of(request)
  if (exchange.signal.aborted || reply.raw.headersSent || audit.isAsked || !mayComeFromOldRows(error))
    return false
  const said = { ...corsHeadersOf(request), ...rateHeadersOf(services, audit.principal) }
  for (const name of Object.keys(said)) reply.removeHeader(name)
  forgetOrigin(request)
  audit.forget()
  await exchange.rewind()
  return true
}

function countUntilClosed({ cluster }: Services, reply: FastifyReply): void {
  const count = (step: 1 | -1): void =>
    WITHOUT_BARRIER.set(cluster, (WITHOUT_BARRIER.get(cluster) ?? 0) + step)
  count(1)
  reply.raw.once('close', () => count(-1))
}

/** Whether rows that are behind may have brought it about. */
function mayComeFromOldRows(error: unknown): boolean {
  if (error instanceof Refusal) return !OF_THIS_NODE.has(error.code)
  return (
    error instanceof NeedsBarrier || (error instanceof Condition && error.cause instanceof StateDamagedError)
  )
}

/** What CORS rules say to a page is not asked for again in the entry. */
function canOmitBarrier({ cluster }: Services, { request, reply }: Pair): boolean {
  if (cluster.membership.stateLevel < BASIS_LEVEL || request.headers.origin !== undefined) return false
  if ((WITHOUT_BARRIER.get(cluster) ?? 0) >= WITHOUT_BARRIER_MAX) return false
  const { length } = Exchange.of(request.raw, reply.raw)
  return length !== null && length <= BODY_BYTES_MAX
}
