/**
 * The audit of what is asked through the local socket: the command line of this machine speaks for its operator.
 *
 * Owns: origin and row of such a request. Knows nothing of: what was asked.
 */
import type { Services } from '../../operations/base/services.ts'
import type { Command, Reply } from '../../state-machine/commands.ts'
import { type Origin, SYSTEM_ORIGIN } from '../../state-machine/base/origin.ts'
import { newRequestId } from '../request-id.ts'

export interface LocalRequest {
  readonly operation: string
  readonly method: string
  readonly path: string
}

/** One request by somebody with access to the data directory. */
export class LocalAudit {
  readonly #services: Services
  readonly #startedMs = performance.now()
  readonly #facts: Omit<Origin, 'successStatus' | 'elapsedMs'>
  #asked = 0
  #answered = 0

  constructor(services: Services, request: LocalRequest) {
    this.#services = services
    this.#facts = {
      ...SYSTEM_ORIGIN,
      ...request,
      requestId: newRequestId(),
      nodeId: services.cluster.nodeId,
    }
  }

  /** Whose proposals carry the origin of this request. */
  get services(): Services {
    const propose = async (command: Command): Promise<Reply> => {
      this.#asked++
      const origin: Origin = { ...this.#facts, successStatus: 200, elapsedMs: this.#elapsedMs() }
      const reply = await this.#services.propose(command, origin)
      this.#answered++
      return reply
    }
    return { ...this.#services, propose: propose as Services['propose'] }
  }

  /** Writes the row unless the entry of a change holds it. `code` null: it went well. */
  end(status: number, code: string | null): void {
    if (this.#asked > 0 && this.#asked === this.#answered) return
    const outcome = { code, status, bytesOut: null, durationMs: this.#elapsedMs(), details: null }
    const time = this.#services.cluster.time.now()
    this.#services.audit.append({ time, ...this.#facts, ...outcome })
  }

  #elapsedMs(): number {
    return Math.round(performance.now() - this.#startedMs)
  }
}
