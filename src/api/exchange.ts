/**
 * One request and its answer on the wire, seen from below the router: the body on demand, the client's going away,
 * and what becomes of a body that was not read.
 *
 * Rules: no byte of a body is asked for before a handler asks; "100 Continue" is sent at that moment and no earlier
 * [RFC 9110 10.1.1]; a refused body is drained within bounds, so that the client gets to read the answer.
 */
import type { BodySource } from '../content/content.ts'
import { releasing } from '../content/spent-bytes.ts'
import { Attached } from '../base/attached.ts'
import { Refusal } from '../base/refusal.ts'
import type { Admission } from '../limits/admission.ts'
import type { BodyPace } from './body-pace.ts'
import { sendContinue, waitsForContinue } from './raw/late-continue.ts'
import { lingerOn } from './raw/linger-on.ts'
import type { RawRequest, RawResponse } from './raw/raw-pair.ts'

/** A client that continues to send after it was refused is read for so long and no longer. */
interface DrainBounds {
  readonly bytes: number
  readonly ms: number
  /** Without a byte. */
  readonly silentMs: number
}

const DRAIN: DrainBounds = { bytes: 8 * 1024 * 1024, ms: 5000, silentMs: 5000 }
/** For a caller that is known: many clients read nothing before all is sent, and would find a reset connection instead of their answer. */
const WHOLE_DRAIN: DrainBounds = { bytes: 128 * 1024 * 1024, ms: 60_000, silentMs: 5000 }
/** Where the client is refused too often to be worth it. */
const SHORT_DRAIN: DrainBounds = { bytes: 64 * 1024, ms: 500, silentMs: 500 }

const EXCHANGES = new Attached<RawRequest, Exchange>()

/** No client is left to answer: no fault of this node, and recorded only in the audit log. */
export class ClientGoneError extends Error {
  constructor() {
    super('The client went away')
  }
}

export interface TimeLimit {
  readonly ms: number
  after(ms: number, callback: () => void): { cancel(): void }
}

export class Exchange {
  readonly #request: RawRequest
  readonly #response: RawResponse
  /** Made when the first part asks for it: most requests end before any does. */
  #gone: AbortController | null = null
  #isGone = false
  /** On the clock of `performance.now()`. */
  readonly startedMs = performance.now()
  /** On the same clock; null: no body was read to its end. */
  bodyEndedMs: number | null = null
  /** On the same clock, when the first bytes of the answer left; null: none have. */
  answeredMs: number | null = null
  /** On the same clock; null: its caller is not known. */
  provedMs: number | null = null
  /** Of the trace that the request belongs to; null: it is not traced. */
  traceId: string | null = null
  /** Set before a body is read or sent; null: it may take as long as it likes. */
  pace: { readonly body: BodyPace; readonly answer: BodyPace; readonly now: () => number } | null = null
  #admission: Admission | null = null
  /** Its caller is known, and limited: more is done to get a refusal across to it. */
  isProved = false
  /** On the clock of `pace`. */
  readonly #held: { sinceMs: number | null; ms: number } = { sinceMs: null, ms: 0 }
  /** Set before a request is served; null: it may take as long as it likes. Both on the clock of `now`. */
  deadline: { readonly atMs: number; readonly now: () => number } | null = null
  #isDrainShort = false
  #readings: AsyncGenerator<Uint8Array>[] = []
  /** What has come of a body that may have to be read again; null: it is read once. */
  #kept: Uint8Array[] | null = null
  #replayed: readonly Uint8Array[] = []
  #isBodyRead = false
  /** Bytes of bodies, for the figures. */
  receivedBytes = 0
  sentBytes = 0

  /** The same exchange for the same request, however often it is asked for. */
  static of(request: RawRequest, response: RawResponse): Exchange {
    const known = EXCHANGES.get(request)
    if (known) return known
    const made = new Exchange(request, response)
    EXCHANGES.set(request, made)
    return made
  }

  private constructor(request: RawRequest, response: RawResponse) {
    this.#request = request
    this.#response = response
    response.once('close', () => {
      if (!response.writableFinished) this.#leave()
      this.#admission?.release()
    })
    // Not 'finish': by then Node has started to throw the rest of the body away itself, without a bound.
    response.once('prefinish', () => {
      if (!request.complete && !request.destroyed) this.#drain()
    })
  }

  /** Aborted when the client went away before it had its answer. */
  get signal(): AbortSignal {
    if (this.#gone === null) {
      this.#gone = new AbortController()
      if (this.#isGone) this.#gone.abort(new ClientGoneError())
    }
    return this.#gone.signal
  }

  #leave(): void {
    this.#isGone = true
    this.#gone?.abort(new ClientGoneError())
  }

  /** What this request holds of its caller's limits; null: it has no limited caller, or none yet. */
  get admission(): Admission | null {
    return this.#admission
  }

  /** Until the connection is done with the request, however it ends. */
  hold(admission: Admission): void {
    if (this.#response.closed) admission.release()
    else this.#admission = admission
  }

  /** Content-Length as a number, null when the body comes in chunks; 0 when there is none. */
  get length(): number | null {
    const { headers } = this.#request
    if (headers['transfer-encoding'] !== undefined) return null
    return Number(headers['content-length'] ?? 0)
  }

  /** True while the client still holds its body back: it may never send it, so the connection cannot be used again. */
  get isWaiting(): boolean {
    return waitsForContinue(this.#request)
  }

  /** The body as it arrives, once. */
  bytes(): AsyncGenerator<Uint8Array> {
    const reading = this.#pieces()
    this.#readings.push(reading)
    return reading
  }

  /** From here on what is read of the body is kept, for `rewind`; only for a body whose declared length is small. */
  keepBody(): void {
    this.#kept ??= []
  }

  /** The next reader gets the body from its beginning again, and it is not kept any more. After `keepBody`, before an answer. */
  async rewind(): Promise<void> {
    const readings = this.#readings
    this.#readings = []
    await Promise.allSettled(readings.map((reading) => reading.return(undefined)))
    this.#replayed = this.#kept ?? []
    this.#kept = null
  }

  async *#pieces(): AsyncGenerator<Uint8Array> {
    for (const piece of this.#replayed) yield piece
    if (this.#isBodyRead) return
    sendContinue(this.#request, this.#response)
    // Leaving the loop early must leave the request whole: what is still to come of it has to be drained.
    this.#admission?.rest()
    let askedMs = this.pace?.now() ?? 0
    for await (const piece of this.#request.iterator({ destroyOnReturn: false })) {
      this.receivedBytes += piece.length
      // A reader may release the memory of what it gets.
      this.#kept?.push(new Uint8Array(piece))
      this.requireTime()
      if (this.pace?.body.isTooSlow(piece.length, this.pace.now() - askedMs))
        throw new Refusal('request_timeout', 'The body of the request came too slowly')
      if (this.#admission !== null) await this.#holdBack(this.#admission, piece.length)
      yield piece
      this.#admission?.rest()
      askedMs = this.pace?.now() ?? 0
    }
    this.bodyEndedMs = performance.now()
    this.#isBodyRead = true
    await this.#admission?.resume()
  }

  /** The first bytes of the answer leave now. Repeating it changes nothing. */
  answering(): void {
    this.answeredMs ??= performance.now()
  }

  /** What the node itself took: of this time no client has a part. Null: there was no answer. */
  get firstByteSeconds(): number | null {
    if (this.answeredMs === null) return null
    return (this.answeredMs - (this.bodyEndedMs ?? this.startedMs)) / 1000
  }

  /** The same, all of it within this time. Throws Refusal request_timeout; the connection is not used again then. */
  async *bytesWithin(limit: TimeLimit): AsyncGenerator<Uint8Array> {
    const pieces = this.bytes()
    const { late, timer } = this.#startTimer(limit)
    try {
      for (;;) {
        const step = await Promise.race([pieces.next(), late])
        if (step.done === true) return
        yield step.value
      }
    } finally {
      timer.cancel()
    }
  }

  /** The same for what a reader makes of the beginning of the body. */
  async within<T>(limit: TimeLimit, work: Promise<T>): Promise<T> {
    const { late, timer } = this.#startTimer(limit)
    try {
      return await Promise.race([work, late])
    } finally {
      timer.cancel()
    }
  }

  #startTimer(limit: TimeLimit): {
    readonly late: Promise<never>
    readonly timer: { cancel(): void }
  } {
    let expire: (() => void) | null = null
    const late = new Promise<never>((_, reject) => {
      expire = () =>
        reject(new Refusal('request_timeout', `The body did not come within ${limit.ms / 1000} seconds`))
    })
    late.catch(() => undefined)
    const timer = limit.after(limit.ms, () => {
      this.#response.shouldKeepAlive = false
      expire?.()
    })
    return { late, timer }
  }

  /** The same for a reader that is done with each piece when it asks for the next. */
  passingBytes(): BodySource {
    return Object.assign(releasing(this.bytes()), { heldMs: () => this.#heldMs() })
  }

  /** Until a piece fits into the rates of its caller, and this node works on the request again. */
  async #holdBack(admission: Admission, bytes: number): Promise<void> {
    this.#held.sinceMs = this.pace?.now() ?? null
    try {
      await admission.pass('in', bytes)
      await admission.resume()
    } finally {
      this.#held.ms = this.#heldMs()
      this.#held.sinceMs = null
    }
  }

  #heldMs(): number {
    const { sinceMs, ms } = this.#held
    return sinceMs === null ? ms : ms + ((this.pace?.now() ?? sinceMs) - sinceMs)
  }

  /** Throws Refusal `request_timeout` when the request has taken as long as one may. Asked after each piece of either body. */
  requireTime(): void {
    if (this.deadline !== null && this.deadline.now() >= this.deadline.atMs)
      throw new Refusal('request_timeout', 'The request took longer than limits.request_duration allows')
  }

  /** What is not read of the body is not waited for. */
  drainShortly(): void {
    this.#isDrainShort = true
  }

  #drainBounds(): DrainBounds {
    if (this.#isDrainShort) return SHORT_DRAIN
    const { length } = this
    // Of a body that is larger anyway, reading more would only take longer.
    const isWorthIt = length === null || length - this.receivedBytes <= WHOLE_DRAIN.bytes
    return this.isProved && isWorthIt ? WHOLE_DRAIN : DRAIN
  }

  #drain(): void {
    const { bytes, ms, silentMs } = this.#drainBounds()
    let left = bytes
    const { socket } = this.#request
    const endOfTime = setTimeout(() => socket.destroy(), ms)
    const silence = setTimeout(() => socket.destroy(), silentMs)
    const settle = (): void => {
      clearTimeout(endOfTime)
      clearTimeout(silence)
      socket.off('close', settle)
    }
    if (!this.#response.shouldKeepAlive && !this.isWaiting) lingerOn(this.#request)
    this.#request.on('data', (piece: Buffer) => {
      left -= piece.length
      if (left < 0) socket.destroy()
      else silence.refresh()
      this.#admission?.charge('in', piece.length)
    })
    this.#request.once('end', settle)
    // The socket's own end: once answered, a request is not notified any more that its connection closed.
    socket.once('close', settle)
    // While a reader is in the middle of the body, it does not flow.
    const readings = this.#readings.map((reading) => reading.return(undefined))
    void Promise.allSettled(readings).then(() => this.#request.resume())
  }
}
