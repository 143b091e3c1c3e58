/**
 * Ctrl-C and SIGTERM as a signal, so that a command can put its things in order before it ends.
 *
 * Rule: a second one ends the process at once.
 */
import { CommandError } from './exit.ts'

let controller: AbortController | null = null

/** The same one for the whole process. */
export function interruption(): AbortSignal {
  if (controller === null) {
    const made = new AbortController()
    controller = made
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => made.abort())
  }
  return controller.signal
}

/** What is thrown after an interruption is of no interest: it was meant. */
export async function orInterrupted<T>(hint: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signal = interruption()
  try {
    return await work(signal)
  } catch (cause) {
    if (!signal.aborted) throw cause
    throw new CommandError('The command was interrupted', { code: 'interrupted', hint })
  }
}
