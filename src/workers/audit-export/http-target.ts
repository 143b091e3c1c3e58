/**
 * Rows by HTTP: as logs of OpenTelemetry, or as a signed webhook. [OTLP 1.3, JSON] [Standard Webhooks 1.0]
 *
 * Owns: bodies, headers and what an answer means. Rules: only 2xx confirms a batch; every other answer leads to another attempt, because
 * no row may be missing. What a collector accepts in part is counted as refused and not sent again, as the protocol asks. Redirects are
 * not followed, certificates are always checked.
 */
import { Agent, request } from 'undici'
import { signatureHeaders } from '../webhooks/signature.ts'
import { anchorOf, type ExportBatch, type ExportedRow } from './export-batch.ts'
import { ExportError, type ExportTarget, SEND_MS_MAX, type TargetTls } from './export-target.ts'

const ANSWER_BYTES_MAX = 64 * 1024
const USER_AGENT = 'holdfast-audit-export/1'
/** [OTLP: severity numbers] */
const SEVERITY = { error: [17, 'ERROR'], denied: [13, 'WARN'], success: [9, 'INFO'] } as const

export interface HttpForm {
  readonly url: string
  /** Headers beside those that every request has, and the body. `time`: ms since 1970. */
  readonly encode: (
    batch: ExportBatch,
    time: number,
  ) => { readonly headers: Readonly<Record<string, string>>; readonly body: string }
  readonly refusedIn: (answer: string) => number
}

export class HttpTarget implements ExportTarget {
  readonly #form: HttpForm
  readonly #now: () => number
  readonly #agent: Agent
  readonly #closing = new AbortController()

  /** `now`: milliseconds since 1970. */
  constructor(form: HttpForm, tls: TargetTls, now: () => number) {
    this.#form = form
    this.#now = now
    this.#agent = new Agent({ connect: { ...tls }, allowH2: false })
  }

  async send(batch: ExportBatch): Promise<number> {
    const { url, encode, refusedIn } = this.#form
    const { headers, body } = encode(batch, this.#now())
    const signal = AbortSignal.any([AbortSignal.timeout(SEND_MS_MAX), this.#closing.signal])
    const { status, text } = await this.#post(url, { headers, body, signal })
    if (status < 200 || status >= 300)
      throw new ExportError(`status ${status}`, `The receiver of the audit log answered ${status}`)
    return refusedIn(text)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#agent.destroy()
  }

  async #post(
    url: string,
    {
      headers,
      body,
      signal,
    }: { readonly headers: object; readonly body: string; readonly signal: AbortSignal },
  ): Promise<{ readonly status: number; readonly text: string }> {
    try {
      const answer = await request(url, {
        method: 'POST',
        dispatcher: this.#agent,
        headers: { ...headers, 'content-type': 'application/json', 'user-agent': USER_AGENT },
        body,
        signal,
      })
      let text = ''
      for await (const piece of answer.body) if (text.length < ANSWER_BYTES_MAX) text += String(piece)
      return { status: answer.statusCode, text }
    } catch (cause) {
      throw new ExportError('connection', 'The receiver of the audit log did not answer', { cause })
    }
  }
}

/** `authorization`: the value of that header; null: none. */
export function otlpForm(url: string, authorization: string | null): HttpForm {
  return {
    url,
    encode: (batch) => ({
      headers: authorization === null ? {} : { authorization },
      body: JSON.stringify({ resourceLogs: [resourceLogsOf(batch)] }),
    }),
    refusedIn: (answer) => {
      try {
        const { partialSuccess } = JSON.parse(answer) as { partialSuccess?: { rejectedLogRecords?: unknown } }
        return Number(partialSuccess?.rejectedLogRecords ?? 0)
      } catch {
        return 0
      }
    },
  }
}

function resourceLogsOf(batch: ExportBatch): object {
  const anchor = {
    time: batch.time,
    operation: 'auditAnchor',
    outcome: 'success',
    json: anchorOf(batch),
  } as const
  return {
    resource: {
      attributes: [attribute('service.name', 'holdfast'), attribute('service.namespace', batch.clusterId)],
    },
    scopeLogs: [{ scope: { name: 'holdfast.audit' }, logRecords: [...batch.rows, anchor].map(recordOf) }],
  }
}

function recordOf({
  time,
  operation,
  outcome,
  json,
}: Pick<ExportedRow, 'time' | 'operation' | 'outcome' | 'json'>) {
  const [severityNumber, severityText] = SEVERITY[outcome]
  const timeUnixNano = `${time}000000`
  const attributes = [attribute('audit.operation', operation), attribute('audit.outcome', outcome)]
  return { timeUnixNano, severityNumber, severityText, body: { stringValue: json }, attributes }
}

const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } })

/** The id of a message is that of its place in the chain, so a receiver recognizes what it has. */
export function webhookForm(url: string, secret: Uint8Array): HttpForm {
  return {
    url,
    encode: (batch, time) => {
      const { clusterId, first, next, rows } = batch
      const id = `audit-${clusterId}-${first}-${next}`
      const head = `{"type":"audit.rows","timestamp":${JSON.stringify(new Date(time).toISOString())}`
      const body = `${head},"data":{${anchorOf(batch).slice(1, -1)},"rows":[${rows.map(({ json }) => json).join(',')}]}}`
      return { headers: signatureHeaders(secret, { id, time, body }), body }
    },
    refusedIn: () => 0,
  }
}
