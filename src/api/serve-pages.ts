/**
 * One request for a page, from its address to the answer.
 *
 * Rules: it takes no credential and asks no state; like other requests of clients that have proved nothing it takes from the bucket of its
 * address; the audit log counts it as it counts probes.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { openOperation } from '../operations/base/operation.ts'
import type { Services } from '../operations/base/services.ts'
import { clientAddress } from './admission/client-address.ts'
import { Exchange } from './exchange.ts'
import type { Pages } from './plane.ts'
import { type Gate, reportBroken } from './proved-request.ts'
import { RequestAudit } from './request-audit.ts'
import { sendAnswer } from './send-answer.ts'

/** How figures and the log name such requests. */
export const DOCUMENTATION = openOperation(
  { id: 'getDocumentation', refuses: [], isRoutine: true },
  async () => undefined,
)
const ROUTE = { operation: DOCUMENTATION, path: '/docs/', success: { status: 200 } }

interface Parts {
  readonly gate: Gate
  readonly unknown: (request: FastifyRequest) => Promise<never>
}

export function servePages(
  services: Services,
  pages: Pages,
  { gate, unknown }: Parts,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  return async (request, reply) => {
    const answering = pages.answer(services.config, request)
    if (answering === null) return unknown(request)
    const audit = RequestAudit.of(request)
    audit.routed(ROUTE, () => ({}))
    const refusal = gate.unproved.count(clientAddress(request))
    if (refusal !== null) throw refusal
    const exchange = Exchange.of(request.raw, reply.raw)
    const onBroken = (error: Error): void => reportBroken(services, request, error)
    const onReady = (status: number, bytes: number): Promise<void> => audit.beforeAnswer(status, bytes)
    await sendAnswer(reply, await answering, { status: 200, exchange, onReady, onBroken })
    return reply
  }
}
