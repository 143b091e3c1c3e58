/**
 * Runs one operation from many clients at once; each repeats it as soon as it has an answer.
 *
 * Owns: the loop and its bounds in time, count and failures. Knows nothing of: what the operation is.
 * Rule: operations that start before the end are awaited and counted, and so is the time until they end.
 */
import { Latencies } from './statistics.ts'

const OPERATIONS_MAX = 4_000_000
/** A row with this many failures is not a valid measurement. */
const ERRORS_MAX = 1000

export interface Load {
  readonly clients: number
  readonly seconds: number
  /** Throws when the answer is not the expected one. */
  readonly operation: (client: number) => Promise<void>
  /** Ends the load early; without it the time ends it. */
  readonly isOver?: () => boolean
}

export interface LoadResult {
  readonly seconds: number
  readonly latencies: Latencies
  readonly errors: number
  readonly firstError: string | null
}

export async function runLoad({ clients, seconds, operation, isOver }: Load): Promise<LoadResult> {
  const latencies = new Latencies(OPERATIONS_MAX)
  const start = performance.now()
  const end = start + 1000 * seconds
  let errors = 0
  let firstError: string | null = null
  const goesOn = (): boolean =>
    performance.now() < end &&
    latencies.count + clients < OPERATIONS_MAX &&
    errors < ERRORS_MAX &&
    isOver?.() !== true
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
