/**
 * What the pipelines of all APIs do with a request whose caller is proved, or is not.
 *
 * Owns: the buckets of addresses, the limits of callers, and the second look of a read. Knows nothing of: how a caller is proved, what its request means.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Condition, StateDamagedError } from '../../cluster/index.ts'
import { BindingRefusal } from '../access/caller-binding.ts'
import type { Connection, Principal } from '../access/base/principal.ts'
import { Refusal } from '../base/refusal.ts'
import { BodyGoneError } from '../content/read-content.ts'
import type { Services } from '../operations/base/services.ts'
import { clientAddress, isSheltered } from './admission/client-address.ts'
import type { UnprovedCallers } from './admission/unproved-callers.ts'
import { clientCertificate } from './client-certificate.ts'
import type { Exchange, TimeLimit } from './exchange.ts'
import type { AdmissionRequest } from '../limits/limits.ts'
import { limitedCaller } from './rate-headers.ts'
import { RequestAudit } from './request-audit.ts'
import { startsAgain } from './request-basis.ts'

/** Of one read, each after its body went before a byte of it was sent. */
const LOOKS_MAX = 4

/** What stands between clients that have proved nothing and this node. */
export interface Gate {
  readonly unproved: UnprovedCallers
  readonly after: TimeLimit['after']
}

export type Serve = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/**
 * A read that meets damage of this node's state, or a body that was removed meanwhile, is served once more, from the barrier on; so is a change that
 * passed none and was not decided.
 */
export function lookingAgain(
  services: Services,
  serve: Serve,
  asKnown: (error: unknown) => unknown = (error) => error,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  return async (request, reply) => {
    for (let look = 1; ; look++) {
      try {
        await serve(request, reply)
        return reply
      } catch (error) {
        if (await startsAgain(services, { request, reply }, error)) continue
        if (!isRead(request) || !mayLookAgain(error, look)) throw noted(services, asKnown(error), request)
        await services.cluster.readBarrier()
      }
    }
  }
}

/** Once for each request: a read that looks again has its turn already. Throws Refusal and Condition. */
export async function admitCaller(
  { limits }: Services,
  kind: Pick<AdmissionRequest, 'isUpload' | 'isListing'>,
  { principal, exchange }: { readonly principal: Principal | null; readonly exchange: Exchange },
): Promise<void> {
  exchange.provedMs ??= performance.now()
  if (principal?.kind !== 'accessKey' || exchange.admission !== null) return
  exchange.isProved = true
  const admission = limits.admit(limitedCaller(principal), { ...kind, client: exchange })
  exchange.hold(admission instanceof Promise ? await admission : admission)
}

export function connectionOf(request: FastifyRequest): Connection {
  return {
    address: clientAddress(request),
    isSecure: request.protocol === 'https',
    isSheltered: isSheltered(request),
    certificate: clientCertificate(request),
  }
}

/** The status has left: what ended the answer is seen only here. A client or a limit is no fault of this node. */
export function reportBroken({ logger }: Services, request: FastifyRequest, err: Error): void {
  const { id: requestId } = request
  RequestAudit.of(request).failed(err instanceof Refusal ? err.code : 'internal_error')
  if (err instanceof Refusal) logger.warn({ requestId, err }, 'answer ended before its last byte')
  else logger.error({ requestId, err }, 'body broke while it was sent')
}

/** Damage is met once: what is read then is another state. An object may be replaced again while it is looked up again. */
function mayLookAgain(error: unknown, look: number): boolean {
  if (metDamage(error)) return look === 1
  return error instanceof BodyGoneError && look < LOOKS_MAX
}

function metDamage(error: unknown): boolean {
  return error instanceof Condition && error.cause instanceof StateDamagedError
}

/** Nothing was consumed and nothing changed by it, and nothing of an answer has left before it throws. */
function isRead({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Who is refused for where he calls from is known, and named in the audit log. */
function noted({ access }: Services, error: unknown, request: FastifyRequest): unknown {
  if (error instanceof Refusal) access.answered(error)
  if (error instanceof BindingRefusal) RequestAudit.of(request).principal = error.principal
  return error
}
