/**
 * One small request and its small answer, at the lowest cost that undici permits: no stream, no abort signal.
 *
 * Owns: one time limit for the whole exchange, the wait for a connection included. Knows nothing of: the contents of either.
 * Rule: once the promise is settled the request is not sent any more, and at most `answerBytesMax` bytes of the answer are kept.
 */
import type { Client, Dispatcher } from 'undici'
import type { Clock } from '../base/clock.ts'

export interface ShortAnswer {
  readonly status: number
  readonly body: Buffer
}

export interface ShortExchange {
  readonly client: Client
  readonly request: Dispatcher.DispatchOptions
  readonly clock: Clock
  readonly timeoutMs: number
  readonly answerBytesMax: number
}

export function exchange(options: ShortExchange): Promise<ShortAnswer> {
  const { client, request, clock, timeoutMs, answerBytesMax } = options
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | null = null
    let failure: Error | null = null
    let status = 0
    let bytes = 0
    const pieces: Buffer[] = []
    const fail = (error: Error): void => {
      timer.cancel()
      failure ??= error
      reject(failure)
      controller?.abort(failure)
    }
    const timer = clock.after(timeoutMs, () => fail(new Error(`No answer within ${timeoutMs} ms`)))
    client.dispatch(request, {
      onRequestStart(started) {
        controller = started
        // The time limit passed while the request waited for a connection.
        if (failure !== null) started.abort(failure)
      },
      onResponseStart(_, code) {
        status = code
      },
      onResponseData(_, piece) {
        bytes += piece.length
        if (bytes > answerBytesMax) fail(new Error(`The answer has more than ${answerBytesMax} bytes`))
        else pieces.push(piece)
      },
      onResponseEnd() {
        timer.cancel()
        resolve({ status, body: Buffer.concat(pieces) })
      },
      onResponseError(_, error) {
        timer.cancel()
        reject(error)
      },
    })
  })
}
