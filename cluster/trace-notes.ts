/**
 * Tells every member which entry of the log a traced change became, so that each adds its pieces to the trace: its flush, its apply, and the leader
 * the commit.
 *
 * Owns: the call `trace.entry`, when a member reports, and the bounds. Knows nothing of: spans, collectors. Rules: they are called after the change has its reply, so no
 * request waits for it; a member that traces nothing, or is of an earlier build, refuses the call, which changes nothing; what does not arrive is lost.
 * [docs/adr/0082]
 */
import type { Clock, Timer } from './base/clock.ts'
import {
  type EntryWanted,
  type EntryReport,
  isTraceparent,
  type PeerTraces,
  type Traceparent,
} from './base/peer-traces.ts'
import type { Logger, NodeId } from './base/types.ts'
import { collectBody } from './transport/collect-body.ts'
import { PeerRefusedError, type PeerCalls } from './transport/transport.ts'

export const TRACE_METHOD = 'trace.entry'
const CALL_MS_MAX = 1_000
/** A member that is not the last to apply an entry has done so within the first of these. ms */
const REPORT_AFTER_MS = 250
const REPORTS_MAX = 20
/** Entries that wait to be reported. */
const WAITING_MAX = 256

export interface TraceNotesParts {
  readonly nodeId: NodeId
  readonly members: () => readonly NodeId[]
  readonly transport: PeerCalls
  readonly clock: Clock
  readonly logger: Logger
  readonly traces: PeerTraces
  readonly entryTimes: (wanted: EntryWanted) => Promise<EntryReport | null>
}

export class TraceNotes {
  readonly #parts: TraceNotesParts
  readonly #waiting = new Set<Timer>()
  #isStopped = false

  /** Before the transport's start. */
  constructor(parts: TraceNotesParts) {
    this.#parts = parts
    parts.transport.handle(TRACE_METHOD, async ({ header, body }) => {
      await collectBody(body, 0)
      const { trace, index } = readNote(header)
      this.#reportLater(trace, index, REPORTS_MAX)
      return { header: null }
    })
  }

  /** A change of the present request has its reply. Never rejects. */
  async onReply(trace: Traceparent): Promise<void> {
    const { entryTimes, members, nodeId, logger } = this.#parts
    try {
      const own = await entryTimes({ proposedBy: trace })
      if (own === null || this.#isStopped) return
      this.#reportLater(trace, own.index, REPORTS_MAX)
      for (const member of members()) if (member !== nodeId) this.#say(member, trace, own.index)
    } catch (err) {
      logger.debug({ err }, 'entry of a trace not found')
    }
  }

  stop(): void {
    this.#isStopped = true
    for (const timer of this.#waiting) timer.cancel()
    this.#waiting.clear()
  }

  #say(member: NodeId, trace: Traceparent, index: number): void {
    const { transport, logger } = this.#parts
    transport
      .call(member, TRACE_METHOD, { header: { trace, index }, timeoutMs: CALL_MS_MAX })
      .then(({ body }) => collectBody(body, 0))
      .catch((err: unknown) => logger.debug({ peer: member, err }, 'note of a trace lost'))
  }

  #reportLater(trace: Traceparent, index: number, left: number): void {
    if (this.#isStopped || this.#waiting.size >= WAITING_MAX) return
    const timer = this.#parts.clock.after(REPORT_AFTER_MS, () => {
      this.#waiting.delete(timer)
      void this.#report(trace, index, left - 1)
    })
    this.#waiting.add(timer)
  }

  async #report(trace: Traceparent, index: number, left: number): Promise<void> {
    const { entryTimes, traces, logger } = this.#parts
    try {
      const report = await entryTimes({ index })
      if (report === null) return
      if (!report.isWhole && left > 0) return this.#reportLater(trace, index, left)
      for (const piece of report.pieces) traces.note(trace, piece)
    } catch (err) {
      logger.debug({ err }, 'entry of a trace not reported')
    }
  }
}

/** From another machine: every field is checked. Throws PeerRefusedError. */
function readNote(header: unknown): { readonly trace: Traceparent; readonly index: number } {
  const fields = typeof header === 'object' && header !== null ? new Map(Object.entries(header)) : new Map()
  const [trace, index]: unknown[] = [fields.get('trace'), fields.get('index')]
  if (isTraceparent(trace) && typeof index === 'number' && Number.isSafeInteger(index) && index > 0)
    return { trace, index }
  throw new PeerRefusedError(
    'trace_invalid',
    'Cannot read a note of a trace: it needs a traceparent and an index',
  )
}
