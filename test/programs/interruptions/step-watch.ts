/**
 * Reads the logs of nodes until one of them reports a step.
 *
 * Owns: how far each file was read. Knows nothing of: clusters, kills. Rule: a file is looked at from where it ended when the watch began.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

export interface SeenStep {
  readonly nodeId: string
  readonly operationId: string
}

const POLL_MS = 1
const GIVE_UP_MS = 120_000
const STEPS: readonly unknown[] = [
  'membership step',
  'membership taken up',
  'rebalance step',
  'rebalance taken up',
]

interface Watched {
  readonly nodeId: string
  readonly file: number
  position: number
  rest: string
}

export class StepWatch {
  readonly #watched: readonly Watched[]

  constructor(logs: readonly { readonly nodeId: string; readonly logFile: string }[]) {
    this.#watched = logs.map(({ nodeId, logFile }) => {
      const file = openSync(logFile, 'r')
      return { nodeId, file, position: fstatSync(file).size, rest: '' }
    })
  }

  /** Resolves as soon as a node has written that it begins with this step. */
  async until(step: string): Promise<SeenStep> {
    const giveUpAt = performance.now() + GIVE_UP_MS
    while (performance.now() < giveUpAt) {
      for (const one of this.#watched)
        for (const line of newLines(one)) {
          const { msg, step: seen, operation } = JSON.parse(line) as Record<string, unknown>
          if (STEPS.includes(msg) && seen === step)
            return { nodeId: one.nodeId, operationId: String(operation) }
        }
      await wait(POLL_MS)
    }
    throw new Error(`gave up waiting until a node starts with ${step}`)
  }

  close(): void {
    for (const { file } of this.#watched) closeSync(file)
  }
}

function newLines(watched: Watched): readonly string[] {
  const size = fstatSync(watched.file).size - watched.position
  if (size <= 0) return []
  const bytes = Buffer.alloc(size)
  const read = readSync(watched.file, bytes, 0, size, watched.position)
  watched.position += read
  const lines = (watched.rest + bytes.toString('utf8', 0, read)).split('\n')
  watched.rest = lines.pop() ?? ''
  return lines.filter((line) => line.startsWith('{'))
}
