/**
 * Binds the name of this node to its data directory, and to this process on it, in the replicated state.
 *
 * Owns: one empty proposal at every start, repeated until it is applied here. Knows nothing of: how others use the registry.
 * Rule: the first directory of a name owns it; of one directory only the process that was started last counts.
 */
import type { Applier } from '../state/applier.ts'
import type { Clock } from '../../base/clock.ts'
import type { NodeLimits } from '../base/limits.ts'
import type { NodeOptions } from '../base/options.ts'
import type { ProposalPath } from '../proposals/proposal-path.ts'
import { Condition, type Logger } from '../../base/types.ts'

export interface RegistrationParts {
  readonly clock: Clock
  readonly limits: NodeLimits
  readonly logger: Logger
  readonly applier: Applier
  readonly proposals: ProposalPath
  /** The node has failed or stops. */
  readonly isOver: () => boolean
  readonly onRegistered: () => void
}

const NO_COMMAND = new Uint8Array(0)

export class Registration {
  readonly #options: NodeOptions
  readonly #parts: RegistrationParts

  constructor(options: NodeOptions, parts: RegistrationParts) {
    this.#options = options
    this.#parts = parts
  }

  async run(): Promise<void> {
    const { proposals, logger, isOver, applier, onRegistered } = this.#parts
    const { nodeId, incarnation, boot } = this.#options
    while (!this.#isDecided() && !isOver()) {
      try {
        await proposals.propose(NO_COMMAND, { need: 'relief' })
      } catch (error) {
        if (!(error instanceof Condition)) throw error
        logger.debug({ err: error }, 'registration is tried again')
        await this.#pause()
      }
    }
    const registered = applier.registered(nodeId)
    if (registered === null || isOver()) return
    if (registered.incarnation !== incarnation)
      logger.error(
        { incarnation, registered: registered.incarnation },
        'another data directory is registered under this name',
      )
    else if (registered.boot === boot) onRegistered()
  }

  /** This process is registered, or never will be. */
  #isDecided(): boolean {
    const { nodeId, incarnation, boot } = this.#options
    const registered = this.#parts.applier.registered(nodeId)
    return registered !== null && (registered.incarnation !== incarnation || registered.boot >= boot)
  }

  #pause(): Promise<void> {
    const { clock, limits } = this.#parts
    return new Promise((resolve) => void clock.after(limits.retryMaxMs, resolve))
  }
}
