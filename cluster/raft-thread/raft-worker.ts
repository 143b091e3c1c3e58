/**
 * The thread of Raft: its log, its timers, its peers. [docs/adr/0072]
 *
 * Owns: nothing; RaftService does the work. Rule: an uncaught error ends the thread, and with it the node.
 */
import assert from 'node:assert/strict'
import { parentPort } from 'node:worker_threads'
import { SystemClock } from '../base/system-clock.ts'
import { Link } from './link.ts'
import type { LinkMessage } from './link.ts'
import type { StateCalls } from './raft-calls.ts'
import { RaftService } from './raft-service.ts'

assert(parentPort, 'this file is the entry of a thread')
const port = parentPort
const link = new Link<StateCalls>({
  post: ({ content, buffer }) => port.postMessage(content, buffer === null ? [] : [buffer]),
  atTurnEnd: setImmediate,
})
const service = new RaftService({ link, clock: new SystemClock() })
port.on('message', (messages: readonly LinkMessage[]) => link.receive(messages))
void service
