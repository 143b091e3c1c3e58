/**
 * A node on a thread that the test can block: its main thread stops in the middle of a turn until the test lets it go.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { createCluster } from '../../cluster/index.ts'
import type { ClusterOptions } from '../../cluster/base/types.ts'
import { NO_COPIES } from '../../scripts/bench/no-copies.ts'
import { SILENT } from '../helpers/loggers.ts'
import { MemoryState, MemoryStateMachine } from '../helpers/memory-state-machine.ts'

export interface BlockableNodeData {
  readonly options: ClusterOptions
  /** One 32-bit number: 0 holds the thread, 1 lets it go. */
  readonly gate: SharedArrayBuffer
}

export type BlockableNodeCall = 'leads' | 'block' | 'texts' | 'stop'

const { options, gate } = workerData as BlockableNodeData
const state = new MemoryState()
const cluster = await createCluster(options, {
  stateMachine: new MemoryStateMachine(state),
  copyLedger: NO_COPIES,
  logger: SILENT,
})

async function answer(call: BlockableNodeCall): Promise<unknown> {
  if (call === 'leads') return cluster.isJobRunner()
  if (call === 'stop') return cluster.stop()
  if (call === 'texts') await cluster.readBarrier()
  return state.current.texts
}

parentPort?.on('message', (call: BlockableNodeCall) => {
  if (call === 'block') {
    parentPort?.postMessage('blocked')
    Atomics.wait(new Int32Array(gate), 0, 0)
  } else void answer(call).then((result) => parentPort?.postMessage(result))
})
parentPort?.postMessage('started')
