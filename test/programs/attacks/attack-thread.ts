/**
 * Runs an attack on a thread of its own, so that the client of the victim never waits for the code of the attacker.
 *
 * Rule: the thread is gone when the attack has ended, whichever way it ended.
 */
import { Worker } from 'node:worker_threads'
import type { Attack, AttackTarget, Counts } from './attack.ts'

/** What the thread is started with. */
export interface AttackJob {
  readonly id: string
  readonly target: AttackTarget
}

const SUFFIX = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
const WORKER = new URL(`./attack-worker.${SUFFIX}`, import.meta.url)
/** Any message to the thread ends the attack. */
const END = 'end'

/** The same attack, one of ATTACKS. */
export function onThread(attack: Attack): Attack {
  return { ...attack, run: (target, signal) => runOnThread({ id: attack.id, target }, signal) }
}

async function runOnThread(job: AttackJob, signal: AbortSignal): Promise<Counts> {
  const worker = new Worker(WORKER, { name: 'attack', workerData: job })
  const end = (): void => worker.postMessage(END)
  try {
    return await new Promise<Counts>((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
      worker.once('exit', () => reject(new Error(`Attack ${job.id} ended without its counts`)))
      signal.addEventListener('abort', end, { once: true })
    })
  } finally {
    signal.removeEventListener('abort', end)
    await worker.terminate()
  }
}
