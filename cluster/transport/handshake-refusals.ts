/**
 * Tells of connections that TLS refused: what is wrong and what to do.
 *
 * Owns: how often. Rule: anybody who reaches the port can make it refuse, so each reason is told once a minute of each
 * address, and what is remembered is bounded.
 */
import type { Socket } from 'node:net'
import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/types.ts'
import { handshakeAdvice } from './handshake-advice.ts'

const SILENCE_MS = 60_000
const REMEMBERED_MAX = 256
const NOT_KNOWN = {
  reason: 'the handshake broke off',
  hint: 'If it was a node, its own log says more; otherwise somebody looks for open ports.',
}

export class HandshakeRefusals {
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #told = new Map<string, number>()

  constructor({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#clock = clock
    this.#logger = logger
  }

  /** Node destroys a socket whose certificate it refuses without an error of its own and leaves the reason on it. */
  refused(error: Error, socket: Socket): void {
    const { authorizationError } = socket as { authorizationError?: unknown }
    const code = typeof authorizationError === 'string' ? authorizationError : codeOf(error)
    const { reason, hint } = handshakeAdvice(code) ?? NOT_KNOWN
    // Gone already, where the other side hung up.
    const remote = socket.remoteAddress ?? 'unknown'
    if (!this.#isNews(`${remote} ${reason}`)) return
    this.#logger.warn({ remote, reason, hint, err: error }, 'peer connection refused')
  }

  #isNews(what: string): boolean {
    const now = this.#clock.now()
    const last = this.#told.get(what)
    if (last !== undefined && now - last < SILENCE_MS) return false
    for (const [old, at] of this.#told) {
      if (now - at >= SILENCE_MS || this.#told.size >= REMEMBERED_MAX) this.#told.delete(old)
    }
    this.#told.set(what, now)
    return true
  }
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
