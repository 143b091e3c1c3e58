/**
 * Requests of one listener that another server of the node answers, in the same process: bodies pass as they are, nothing is copied, added or held.
 *
 * Rule: below the path of a relay the request is for the other server alone, as if it had come to its own listener without that path.
 */
import type { RequestListener, Server } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { originForm } from './request-target.ts'

export interface Relay {
  /** Without a slash at the end. */
  readonly below: string
  /** Does not listen by itself; it starts and ends with the server before it. */
  readonly server: FastifyInstance
}

export function relaying(own: RequestListener, { below, server }: Relay): RequestListener {
  return (request, response) => {
    const target = originForm(request.url ?? '/')
    if (!target.startsWith(`${below}/`)) return own(request, response)
    request.url = target.slice(below.length)
    server.routing(request, response)
  }
}

/** Starts and ends the server behind with the one before it, whose connections go when their last answer is out. */
export function followRelay(before: FastifyInstance, { server: behind }: Relay): void {
  before.addHook('onReady', async () => {
    await behind.ready()
  })
  before.addHook('preClose', async () => {
    await behind.close()
  })
  behind.addHook('onRequest', (_, reply, done) => {
    reply.raw.once('close', () => endIdle(before.server))
    done()
  })
}

function endIdle(server: Server): void {
  if (!server.listening) setImmediate(() => server.closeIdleConnections())
}
