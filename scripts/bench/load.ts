/**
 * Runs one operation from many clients at once, each asking again as soon as it was answered.
 *
 * Owns: the loop and its bounds in time, count and failures. Knows nothing of: what the operation is.
 * Rule: what begins before the end is waited for and counted, and the time until then is counted with it.
 */
import { Latencies } from './statistics.ts'

const OPERATIONS_MAX = 4_000_000
/** A row that fails this often is no measurement any more. */
const ERRORS_MAX = 1000

export interface Load {
  readonly clients: number
  readonly seconds: number
  /** Throws when the answer is not the one expected. */
  readonly operation: (client: number) => Promise<void>
}

export interface LoadResult {
  readonly seconds: number
  readonly latencies: Latencies
  readonly errors: number
  readonly firstError: string | null
}

export async function runLoad({ clients, seconds, operation }: Load): Promise<LoadResult> {
  const latencies = new Latencies(OPERATIONS_MAX)
  const start = performance.now()
  const end = start + 1000 * seconds
  let errors = 0
  let firstError: string | null = null
  const goesOn = (): boolean =>
    performance.now() < end && latencies.count + clients < OPERATIONS_MAX && errors < ERRORS_MAX
  const runClient = async (client: number): Promise<void> => {
    while (goesOn()) {
      const began = performance.now()
      try {
        await operation(client)
        latencies.add(performance.now() - began)
      } catch (error) {
        errors++
        firstError ??= error instanceof Error ? error.message : String(error)
      }
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, client) => runClient(client)))
  return { seconds: (performance.now() - start) / 1000, latencies, errors, firstError }
}
