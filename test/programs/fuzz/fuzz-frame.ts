/**
 * What every fuzz of an API has in common: requests one after the other, each sent, counted, judged and, at fault, reported.
 *
 * Owns: the loop and its bounds, the connections, the report. Knows nothing of: what is sent, what an answer must be.
 * Rule: every request has a bound, and every fault names the request in full.
 */
import http from 'node:http'

export interface FuzzReport {
  requests: number
  readonly statuses: Map<number, number>
  readonly codes: Map<string, number>
  readonly operations: Set<string>
  readonly faults: string[]
  slowestMs: number
}

export interface Received {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly bytes: Buffer
}

/** One request of a fuzz. */
export interface FuzzAsk {
  readonly operation: string
  send(): Promise<Received>
  /** Null: the answer may be. `summary`: its status and first bytes. */
  faultOf(received: Received, summary: string): string | null | Promise<string | null>
  /** The request in full, as far as it fits. */
  shown(): string
}

export interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: Buffer | null
}

const ANSWER_MS_MAX = 15_000
const FAULTS_MAX = 20

export class FuzzFrame {
  readonly report: FuzzReport = {
    requests: 0,
    statuses: new Map(),
    codes: new Map(),
    operations: new Set(),
    faults: [],
    slowestMs: 0,
  }
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 4 })

  /** Steps until `isOver` says so, or there is nothing more to learn from faults. */
  async run(isOver: (report: FuzzReport) => boolean, step: () => Promise<void>): Promise<FuzzReport> {
    const { report } = this
    try {
      while (!isOver(report) && report.faults.length < FAULTS_MAX) await step()
      return report
    } finally {
      this.#agent.destroy()
    }
  }

  /** Null: there was no answer. */
  async ask(asked: FuzzAsk): Promise<Received | null> {
    const { report } = this
    report.requests += 1
    report.operations.add(asked.operation)
    const started = performance.now()
    const received = await asked.send().catch((error: unknown) => error as Error)
    report.slowestMs = Math.max(report.slowestMs, performance.now() - started)
    const fault =
      received instanceof Error ? `no answer: ${received.message}` : await this.#faultOf(asked, received)
    if (fault !== null) report.faults.push(`${fault}\n  ${asked.shown()}`)
    return received instanceof Error ? null : received
  }

  async #faultOf(asked: FuzzAsk, received: Received): Promise<string | null> {
    const { status, headers, bytes } = received
    this.report.statuses.set(status, (this.report.statuses.get(status) ?? 0) + 1)
    const summary = `${status} ${bytes.subarray(0, 400).toString()}`
    if (headers['x-injected'] !== undefined) return `a header was injected: ${summary}`
    return asked.faultOf(received, summary)
  }

  countCode(code: string): void {
    this.report.codes.set(code, (this.report.codes.get(code) ?? 0) + 1)
  }

  /** `host`: with its port. */
  send(host: string, { method, path, headers, body }: Sent): Promise<Received> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = new URL(`http://${host}`)
      const length = body === null ? {} : { 'content-length': `${body.length}` }
      const signal = AbortSignal.timeout(ANSWER_MS_MAX)
      const options = { host: hostname, port, method, path, agent: this.#agent, signal }
      const outgoing = http.request({ ...options, headers: { ...length, ...headers } }, (response) => {
        const pieces: Buffer[] = []
        response.on('data', (piece: Buffer) => pieces.push(piece))
        response.on('error', reject)
        response.on('end', () => {
          const { statusCode = 0 } = response
          resolve({ status: statusCode, headers: response.headers, bytes: Buffer.concat(pieces) })
        })
      })
      outgoing.on('error', reject)
      outgoing.end(body ?? undefined)
    })
  }
}
