/**
 * Ctrl-C and SIGTERM as an AbortSignal, so that a command can clean up before it ends.
 *
 * Rule: a second one ends the process immediately.
 */
import { CommandError } from './exit.ts'

let controller: AbortController | null = null

/** One signal for the whole process. */
export function interruption(): AbortSignal {
  if (controller === null) {
    const made = new AbortController()
    controller = made
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => made.abort())
  }
  return controller.signal
}

/** An error that `work` throws after an interruption is replaced by `interrupted`. */
export async function orInterrupted<T>(hint: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signal = interruption()
  try {
    return await work(signal)
  } catch (cause) {
    if (!signal.aborted) throw cause
    throw new CommandError('The command was interrupted', { code: 'interrupted', hint })
  }
}
