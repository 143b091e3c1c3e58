/**
 * Uploads that send so many bytes so often, over bare sockets, and what became of them.
 *
 * Rule: a client never has more than one piece under way, so that a node that reads slowly is not sent more than it takes.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { BareSocket, headOf } from './call.ts'

const TICK_MS = 100

export interface SlowUpload {
  /** Of a listener. */
  readonly url: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly length: number
  /** Sent with the head. */
  readonly firstBytes: number
  readonly pieceBytes: number
  readonly everyMs: number
  /** Milliseconds until the first piece, so that clients do not all send at once. */
  readonly delayMs: number
}

class Client {
  readonly #upload: SlowUpload
  readonly #startedMs: number
  #socket: BareSocket
  #sent: number
  #pieces = 0

  constructor(upload: SlowUpload, nowMs: number) {
    this.#upload = upload
    this.#startedMs = nowMs + upload.delayMs
    this.#sent = upload.firstBytes
    const { url, path, headers, length } = upload
    this.#socket = new BareSocket(url, headOf('PUT', path, { ...headers, 'content-length': `${length}` }))
    this.#socket.send(Buffer.alloc(upload.firstBytes, 1))
  }

  get state(): 'open' | 'finished' | 'cut' | number {
    if (this.#socket.status !== 0) return this.#socket.status === 200 ? 'finished' : this.#socket.status
    return this.#socket.isOpen ? 'open' : 'cut'
  }

  /** Status and code of the answer. */
  get answer(): string {
    return `${this.#socket.status} ${this.#socket.code}`.trim()
  }

  get sent(): number {
    return this.#sent
  }

  /** Sends the next piece if it is due. */
  send(nowMs: number): void {
    const { pieceBytes, everyMs, length } = this.#upload
    const due = Math.floor((nowMs - this.#startedMs) / everyMs)
    const left = length - this.#sent
    if (due <= this.#pieces || left === 0 || this.state !== 'open' || this.#socket.backlog > 0) return
    // A client that could not send in time keeps its speed and does not catch up.
    this.#pieces = due
    const piece = Buffer.alloc(Math.min(pieceBytes, left), due)
    this.#sent += piece.length
    this.#socket.send(piece)
  }

  end(): void {
    this.#socket.destroy()
  }
}

/** What a client does whose upload has ended. */
export interface Again {
  /** Until it sends the next upload. */
  readonly afterMs: number
  /** The next upload; null: none. */
  next(upload: SlowUpload, n: number): SlowUpload | null
}

/** Runs clients until the signal is aborted. */
export async function runSlowUploads(
  uploads: readonly SlowUpload[],
  signal: AbortSignal,
  again: Again,
): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = { opened: uploads.length, finished: 0, 'sent kB': 0 }
  const count = (name: string, by = 1): void => void (counts[name] = (counts[name] ?? 0) + by)
  const running = new Map(
    uploads.map((upload, n) => [n, { upload, client: new Client(upload, performance.now()) }]),
  )
  /** In the order of their times. */
  const waiting: { readonly who: number; readonly upload: SlowUpload; readonly atMs: number }[] = []
  let n = uploads.length
  while (!signal.aborted) {
    const now = performance.now()
    for (const [who, { upload, client }] of running) {
      const { state } = client
      if (state === 'open') {
        client.send(now)
        continue
      }
      count(typeof state === 'number' ? client.answer : state)
      count('sent kB', client.sent / 1000)
      client.end()
      running.delete(who)
      const next = again.next(upload, n++)
      if (next !== null) waiting.push({ who, upload: next, atMs: now + again.afterMs })
    }
    for (let due = waiting[0]; due !== undefined && due.atMs <= now; due = waiting[0]) {
      waiting.shift()
      running.set(due.who, { upload: due.upload, client: new Client(due.upload, now) })
    }
    await wait(TICK_MS)
  }
  for (const { client } of running.values()) {
    count(client.state === 'open' ? 'open at the end' : 'ended')
    count('sent kB', client.sent / 1000)
    client.end()
  }
  counts['sent kB'] = Math.round(counts['sent kB'] ?? 0)
  return counts
}
