/** An edge thread that dies of an error when a test says so. */
import { BroadcastChannel } from 'node:worker_threads'
import '../../src/api/edge-threads/edge-worker.ts'

/** As in edge-threads.test.ts, which cannot import an entry of a thread. */
const DIE = 'edge-thread-dies'

const channel = new BroadcastChannel(DIE)
channel.onmessage = () => {
  throw new Error('this edge thread dies')
}
