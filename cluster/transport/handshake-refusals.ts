/**
 * Logs connections that TLS refused, with the reason and how to fix it.
 *
 * Owns: how often. Rule: any client that reaches the port can cause refusals, so each reason is logged once a minute for each
 * address, and the memory of logged reasons is bounded.
 */
import type { Socket } from 'node:net'
import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/types.ts'
import { handshakeAdvice } from './handshake-advice.ts'

const SILENCE_MS = 60_000
const REMEMBERED_MAX = 256
const NOT_KNOWN = {
  reason: 'the handshake broke off',
  hint: 'If it was a node, its own log has the details; otherwise it may be a port scan.',
}

export class HandshakeRefusals {
  readonly #clock: Clock
  readonly #logger: Logger
  /** The time of the last log line, by address and reason. */
  readonly #loggedAt = new Map<string, number>()

  constructor({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#clock = clock
    this.#logger = logger
  }

  /** When Node refuses a certificate, it destroys the socket without a specific error and leaves the reason on the socket. */
  refused(error: Error, socket: Socket): void {
    const { authorizationError } = socket as { authorizationError?: unknown }
    const code = typeof authorizationError === 'string' ? authorizationError : codeOf(error)
    const { reason, hint } = handshakeAdvice(code) ?? NOT_KNOWN
    // The address is gone already if the other side closed the connection.
    const remote = socket.remoteAddress ?? 'unknown'
    if (!this.#isNews(`${remote} ${reason}`)) return
    this.#logger.warn({ remote, reason, hint, err: error }, 'peer connection refused')
  }

  #isNews(what: string): boolean {
    const now = this.#clock.now()
    const last = this.#loggedAt.get(what)
    if (last !== undefined && now - last < SILENCE_MS) return false
    for (const [old, at] of this.#loggedAt) {
      if (now - at >= SILENCE_MS || this.#loggedAt.size >= REMEMBERED_MAX) this.#loggedAt.delete(old)
    }
    this.#loggedAt.set(what, now)
    return true
  }
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
