/**
 * An edge thread: the connections of the data listener that the system gave to it. [docs/adr/0102]
 *
 * Owns: nothing; EdgeSide does the work. Rule: an uncaught error ends the thread and its connections, and not the node.
 */
import assert from 'node:assert/strict'
import { parentPort, workerData } from 'node:worker_threads'
import { EdgeSide } from './edge-side.ts'
import { Outbox } from './outbox.ts'
import type { EdgeSetup, ToEdge, ToState } from './thread-messages.ts'

assert(parentPort, 'this file is the entry of a thread')
const port = parentPort
const outbox = new Outbox<ToState>(({ messages, buffers }) => port.postMessage(messages, buffers))
const edge = new EdgeSide(workerData as EdgeSetup, outbox)
port.on('message', (messages: readonly ToEdge[]) => {
  for (const message of messages) edge.receive(message)
})
edge.listen()
