/**
 * Starts the thread of Raft and joins it to the half of the state on this one.
 *
 * Owns: the thread. Knows nothing of: what crosses. Rule: a thread that ends by itself ends the node.
 */
import { Worker } from 'node:worker_threads'
import { SystemClock } from '../base/system-clock.ts'
import { Condition } from '../base/types.ts'
import type { Membership } from '../directory/directory.ts'
import type { RaftHalfOptions } from '../raft-half/raft-half.ts'
import type { RaftPort, StatePort } from '../raft-half/raft-port.ts'
import { Link, type LinkMessage } from './link.ts'
import { LinkedRaft } from './linked-raft.ts'
import type { RaftCalls } from './raft-calls.ts'

const WORKER_FILE = import.meta.url.endsWith('.ts') ? './raft-worker.ts' : './raft-worker.js'

/** As `openRaftHalf`, on a thread of its own. Throws StartError. */
export async function openRaftThread(
  options: RaftHalfOptions,
  known: Membership | null,
  state: StatePort,
): Promise<RaftPort> {
  const worker = new Worker(new URL(WORKER_FILE, import.meta.url), { name: 'raft' })
  const link = new Link<RaftCalls>({
    post: ({ content, buffer }) => worker.postMessage(content, buffer === null ? [] : [buffer]),
    atTurnEnd: setImmediate,
  })
  let raft: LinkedRaft | null = null
  const onEnd = (error: Error): void => {
    link.close(new Condition('shutting_down', 'This node stops', { cause: error }))
    raft?.onEnd(error)
  }
  worker.on('message', (messages: readonly LinkMessage[]) => link.receive(messages))
  worker.on('error', (cause) => onEnd(new Error('The thread of Raft died', { cause })))
  worker.on('exit', (code) => onEnd(new Error(`The thread of Raft ended with code ${code}`)))
  const end = async (): Promise<void> => void (await worker.terminate())
  raft = await LinkedRaft.open({ options, known, state, link, clock: new SystemClock(), end })
  return raft
}
