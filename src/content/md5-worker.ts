/**
 * A thread that keeps the running MD5 of bodies.
 *
 * Owns: one hash for each body from its first update until it is forgotten. Rule: any error here ends the thread; the pool fails the bodies
 * that it had and starts another thread.
 */
import assert from 'node:assert/strict'
import { createHash, type Hash } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import type { Md5Reply, Md5Request } from './md5-protocol.ts'

assert(parentPort !== null, 'an MD5 thread is started by the pool')
const port = parentPort
const bodies = new Map<number, Hash>()

port.on('message', (request: Md5Request) => {
  const { type, body } = request
  if (type === 'forget') return void bodies.delete(body)
  const hash = bodies.get(body) ?? createHash('md5')
  bodies.set(body, hash)
  if (type === 'update') for (const frame of request.frames) hash.update(frame)
  const reply: Md5Reply = { digest: type === 'digest' ? hash.digest() : null }
  port.postMessage(reply)
})
