/**
 * Rows as syslog messages over TLS. [RFC 5424] [RFC 5425]
 *
 * Owns: the messages and their framing by octet counts. Rules: syslog confirms nothing, so each batch has a connection of its own, which
 * this side closes first: a receiver that has read everything answers the close, and only then the batch counts as taken
 * [RFC 5425 4.4]. One that closes before, or while the rows are in flight, has not taken it. Certificates are always checked.
 */
import { connect, type TLSSocket } from 'node:tls'
import { isIP } from 'node:net'
import { anchorOf, type ExportBatch, type ExportedRow } from './export-batch.ts'
import { ExportError, type ExportTarget, SEND_MS_MAX, type TargetTls } from './export-target.ts'

/** Log audit. [RFC 5424 6.2.1] */
const FACILITY = 13
const SEVERITY = { error: 3, denied: 4, success: 6 } as const
const APP = 'holdfast'
const HOST_CHARACTERS_MAX = 255
const MESSAGE_ID_CHARACTERS_MAX = 32
const PORT = 6514
/** Between the last row and the close. */
const QUIET_MS_MIN = 100

export class SyslogTarget implements ExportTarget {
  readonly #url: URL
  readonly #tls: TargetTls
  readonly #timeoutMs: number
  readonly #open = new Set<TLSSocket>()

  /** `tls://host:port` */
  constructor(url: string, tls: TargetTls, timeoutMs: number = SEND_MS_MAX) {
    this.#url = new URL(url)
    this.#tls = tls
    this.#timeoutMs = timeoutMs
  }

  send(batch: ExportBatch): Promise<number> {
    const host = this.#url.hostname.replace(/^\[|\]$/g, '')
    const port = this.#url.port === '' ? PORT : Number(this.#url.port)
    const name = isIP(host) === 0 ? { servername: host } : {}
    return new Promise((resolve, reject) => {
      const socket = connect({
        host,
        port,
        ...name,
        ...this.#tls,
        minVersion: 'TLSv1.2',
      })
      this.#open.add(socket)
      const beganMs = performance.now()
      let [isClosing, isRead] = [false, false]
      let cause: Error | undefined
      // Nothing is expected but the end.
      socket.resume()
      socket.setTimeout(this.#timeoutMs, () => socket.destroy(new Error('no answer in time')))
      socket.once('secureConnect', () => {
        // Long enough for a receiver that is gone to say so: its machine refuses the rows.
        const quietMs = Math.max(QUIET_MS_MIN, performance.now() - beganMs)
        const close = (): void => {
          isClosing = !socket.destroyed
          socket.end()
        }
        socket.write(messagesOf(batch), () => void setTimeout(close, quietMs).unref())
      })
      socket.once('end', () => (isRead = isClosing))
      socket.once('error', (error) => (cause = error))
      socket.once('close', () => {
        this.#open.delete(socket)
        if (isRead && cause === undefined) resolve(0)
        else
          reject(
            new ExportError('connection', `The syslog receiver at ${host}:${port} did not take the rows`, {
              cause,
            }),
          )
      })
    })
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy()
  }
}

/** All rows, and last the anchor. */
export function messagesOf(batch: ExportBatch): Buffer {
  const [{ nodeId } = { nodeId: '-' }] = batch.rows
  const { time } = batch
  const anchor = {
    time,
    nodeId,
    operation: 'auditAnchor',
    outcome: 'success',
    json: anchorOf(batch),
  } as const
  return Buffer.concat([...batch.rows, anchor].map(framed))
}

function framed({ time, nodeId, operation, outcome, json }: Omit<ExportedRow, 'id'>): Buffer {
  const priority = FACILITY * 8 + SEVERITY[outcome]
  const host = printable(nodeId, HOST_CHARACTERS_MAX)
  const messageId = printable(operation, MESSAGE_ID_CHARACTERS_MAX)
  const message = Buffer.from(
    `<${priority}>1 ${new Date(time).toISOString()} ${host} ${APP} - ${messageId} - ${json}`,
  )
  return Buffer.concat([Buffer.from(`${message.length} `), message])
}

function printable(text: string, charactersMax: number): string {
  return text.replace(/[^\x21-\x7e]/g, '?').slice(0, charactersMax) || '-'
}
