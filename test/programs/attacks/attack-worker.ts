/** The thread of one attack: runs it until a message ends it, and answers with what it has counted. */
import assert from 'node:assert/strict'
import { parentPort, workerData } from 'node:worker_threads'
import type { AttackJob } from './attack-thread.ts'
import { ATTACKS } from './attacks.ts'

assert(parentPort, 'this file is the entry of a thread')
const port = parentPort
const { id, target } = workerData as AttackJob
const attack = ATTACKS.find((one) => one.id === id)
assert(attack, 'only attacks of the index are run')
const over = new AbortController()
port.once('message', () => over.abort())
port.postMessage(await attack.run(target, over.signal))
