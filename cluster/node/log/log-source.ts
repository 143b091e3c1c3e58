/**
 * Serves entries of the log of this node to other nodes.
 *
 * Owns: the answers of `log.entries`, and a push when a peer waits for an entry that does not exist yet.
 * Knows nothing of: why the peer has lost it, and which entries may be served (log-entries-call.ts).
 */
import type { CoreLoop } from '../base/core-loop.ts'
import { LOG_ENTRIES_METHOD, logEntriesHandler } from './log-entries-call.ts'
import type { ProposalPath } from '../proposals/proposal-path.ts'
import type { Entry, LogIndex } from '../../raft/types.ts'
import type { CallHandler } from '../../transport/transport.ts'
import type { Logger } from '../../base/types.ts'
import type { Wal } from '../../wal/wal.ts'

export interface LogSourceParts {
  readonly loop: CoreLoop
  readonly wal: Wal
  readonly proposals: ProposalPath
  readonly logger: Logger
}

const NO_COMMAND = new Uint8Array(0)

export class LogSource {
  readonly #parts: LogSourceParts
  #isPushing = false

  constructor(parts: LogSourceParts) {
    this.#parts = parts
  }

  get handlers(): ReadonlyMap<string, CallHandler> {
    const { loop } = this.#parts
    const handler = logEntriesHandler(() => {
      const { base, commitIndex } = loop.status()
      return {
        baseIndex: base.index,
        commitIndex,
        entry: (index) => loop.entry(index) ?? this.#readBack(index),
        onAskedBeyond: () => void this.#push(),
      }
    })
    return new Map([[LOG_ENTRIES_METHOD, handler]])
  }

  /** An entry that left memory is in the segments; it counts if the log still has its term there. */
  async #readBack(index: LogIndex): Promise<Entry | null> {
    const { loop, wal } = this.#parts
    if (loop.isMute || loop.termAt(index) === null || index <= loop.status().base.index) return null
    const [entry] = (await wal.read({ from: index, through: index, bytesMax: 0 })) ?? []
    return entry !== undefined && loop.termAt(index) === entry.term ? entry : null
  }

  /** A node that repairs its log waits for a commit at the index of its lost entry; in a group at rest none would come. */
  async #push(): Promise<void> {
    if (this.#isPushing) return
    this.#isPushing = true
    try {
      await this.#parts.proposals.propose(NO_COMMAND)
    } catch (error) {
      // The node that needs it asks again.
      this.#parts.logger.debug({ err: error }, 'log not extended for a node that repairs its own')
    } finally {
      this.#isPushing = false
    }
  }
}
