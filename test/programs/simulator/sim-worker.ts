/**
 * The thread that runs seeds, one after the other.
 *
 * Owns: the comparison of a second run. Rule: a run that ends differently when it is repeated is a violation.
 */
import assert from 'node:assert/strict'
import { parentPort } from 'node:worker_threads'
import type { SimJob, SimReport } from './pool.ts'
import { type Outcome, runSeed } from './run-seed.ts'

assert(parentPort, 'this file is the entry of a thread')
const port = parentPort

port.on('message', (job: SimJob) => {
  void report(job).then((answer) => port.postMessage(answer))
})

async function report({ seed, events, twice, traceLines, machine }: SimJob): Promise<SimReport> {
  const before = process.threadCpuUsage()
  const plan = machine === null ? {} : { machine }
  const outcome = await runSeed({ seed, events, traceLines, plan })
  const { user, system } = process.threadCpuUsage(before)
  const again = twice ? await runSeed({ seed, events, plan }) : null
  const violation = outcome.violation ?? (again === null ? null : differenceOf(outcome, again))
  return {
    ...outcome,
    figures: { ...outcome.figures, ...outcome.walk, ...outcome.background },
    violation,
    cpuMs: (user + system) / 1000,
  }
}

function differenceOf(one: Outcome, other: Outcome): string | null {
  return one.hash === other.hash ? null : `not repeatable: hash ${one.hash}, then ${other.hash}`
}
