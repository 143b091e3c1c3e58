/**
 * Runs seeds of the simulator on worker threads.
 *
 * Owns: which worker does which seed, and when no more are started. Knows nothing of: the run of a seed.
 * Rule: a seed runs whole on one worker; how many workers there are changes no outcome.
 */
import { Worker } from 'node:worker_threads'
import type { Machine } from './swarm.ts'

/** The state machine of the nodes; null: drawn from the seed. */
export type SimMachineChoice = Machine | null

export interface SimJob {
  readonly seed: number
  readonly events: number
  /** Run it once more and compare. */
  readonly twice: boolean
  readonly traceLines: number
  readonly machine: SimMachineChoice
}

export interface SimReport {
  readonly seed: number
  /** Null: every promise was kept. */
  readonly violation: string | null
  readonly hash: string
  readonly figures: Readonly<Record<string, number>>
  readonly trace: readonly string[]
  /** Of processor time, a second run not counted. */
  readonly cpuMs: number
}

export interface PoolOptions {
  readonly workers: number
  /** Asked before each seed; null: no more. */
  readonly next: () => SimJob | null
  readonly onReport: (report: SimReport) => void
}

const SUFFIX = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
const WORKER = new URL(`./sim-worker.${SUFFIX}`, import.meta.url)

/** Resolves when every started seed is done. Rejects when a worker dies. */
export async function runPool({ workers, next, onReport }: PoolOptions): Promise<void> {
  const lanes = Array.from({ length: workers }, () => runLane(next, onReport))
  await Promise.all(lanes)
}

function runLane(next: PoolOptions['next'], onReport: PoolOptions['onReport']): Promise<void> {
  const first = next()
  if (first === null) return Promise.resolve()
  const worker = new Worker(WORKER, { name: 'sim' })
  return new Promise((resolve, reject) => {
    let job = first
    worker.on('message', (report: SimReport) => {
      onReport(report)
      const following = next()
      if (following === null) void worker.terminate().then(() => resolve())
      else {
        job = following
        worker.postMessage(job)
      }
    })
    worker.on('error', (cause) => reject(new Error(`The worker died in seed ${job.seed}`, { cause })))
    worker.postMessage(job)
  })
}
