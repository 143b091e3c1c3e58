/**
 * What nodes tell each other of the use of limited callers, so that all nodes together give about one limit.
 *
 * Owns: which callers are reported, and the bytes of a report. Knows nothing of: how it travels. Rules: a report is bounded, and what does
 * not fit stays for the next; what was used elsewhere is taken off here once; a report that cannot be read is ignored, for it comes
 * from another version.
 *
 * Bytes: UTF-8 JSON, [1, [[scope, name, requests, bytes in, bytes out, requests at once, uploads at once], ...]].
 */
import { GOSSIP_BYTES_MAX, GOSSIP_EVERY_MS, type GossipChannel } from '../../cluster/index.ts'
import type { CallerUse, Scope } from './caller-use.ts'
import type { Callers } from './callers.ts'

const VERSION = 1
/** Of each kind. With names of at most 128 characters they fit into a report. */
const ROWS_MAX = 64
/** What runs on a node counts until so many of its reports are missing. */
const BELIEVED_MS = 8 * GOSSIP_EVERY_MS

/** Requests of admin tokens, which are limited where tokens are proved. */
export interface TokenUse {
  /** Requests that were not reported yet, by token; they count as reported from now on. */
  drain(countMax: number): readonly (readonly [name: string, requests: number])[]
  /** Requests on another node. */
  charge(name: string, requests: number): void
}

export interface SharedUseParts {
  readonly callers: readonly Callers[]
  readonly tokens: TokenUse
  /** Called when what was reported may let waiting requests begin. */
  readonly onReport: () => void
  /** Monotonic milliseconds. */
  readonly now: () => number
}

type Row = readonly [scope: string, name: string, ...figures: number[]]

export class SharedUse implements GossipChannel {
  readonly #parts: SharedUseParts

  constructor(parts: SharedUseParts) {
    this.#parts = parts
  }

  report(): Uint8Array | null {
    const { callers, tokens } = this.#parts
    const rows: Row[] = callers.flatMap((known) => [...reportsOf(known)])
    for (const [name, requests] of tokens.drain(ROWS_MAX)) rows.push(['token', name, requests, 0, 0, 0, 0])
    if (rows.length === 0) return null
    const bytes = new TextEncoder().encode(JSON.stringify([VERSION, rows]))
    return bytes.length <= GOSSIP_BYTES_MAX ? bytes : null
  }

  hear(from: string, report: Uint8Array): void {
    const nowMs = this.#parts.now()
    for (const row of rowsOf(report)) this.#note(from, row, nowMs)
    this.#parts.onReport()
  }

  #note(from: string, [scope, name, ...figures]: Row, nowMs: number): void {
    const [requests = 0, bytesIn = 0, bytesOut = 0, running = 0, uploads = 0] = figures
    if (scope === 'token') return this.#parts.tokens.charge(name, requests)
    const known = this.#parts.callers.find((one) => one.scope === scope)
    known
      ?.reported(name, nowMs)
      .hear(
        from,
        { use: { requests, bytesIn, bytesOut }, running: { requests: running, uploads } },
        { nowMs, believedMs: BELIEVED_MS },
      )
  }
}

function* reportsOf(callers: Callers): Generator<Row> {
  let rows = 0
  const reported: CallerUse[] = []
  for (const caller of callers.all()) {
    const report = caller.report()
    if (report === null) continue
    const { use, running } = report
    reported.push(caller)
    yield [
      callers.scope,
      caller.name,
      use.requests,
      Math.round(use.bytesIn),
      Math.round(use.bytesOut),
      running.requests,
      running.uploads,
    ]
    rows += 1
    if (rows >= ROWS_MAX) break
  }
  // The others are first in the next report.
  if (rows >= ROWS_MAX) callers.moveLast(reported)
}

function rowsOf(report: Uint8Array): readonly Row[] {
  const value = parsed(report)
  if (!Array.isArray(value) || value[0] !== VERSION || !Array.isArray(value[1])) return []
  return value[1].filter(isRow)
}

function isRow(row: unknown): row is Row {
  if (!Array.isArray(row) || row.length !== 7) return false
  const [scope, name, ...figures] = row
  const isNamed = isScope(scope) && typeof name === 'string' && name.length <= 128
  return isNamed && figures.every((figure) => Number.isSafeInteger(figure) && figure >= 0)
}

const SCOPES: readonly Scope[] = ['tenant', 'key', 'address', 'token']
const isScope = (scope: unknown): boolean => SCOPES.some((one) => one === scope)

function parsed(report: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(report))
  } catch {
    return null
  }
}
