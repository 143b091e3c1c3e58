/**
 * The thread that names and seals large chunks.
 *
 * Owns: nothing between two requests. Knows nothing of: uploads. Rule: any error here ends the thread; the pool fails the
 * request that it had and starts another thread.
 */
import assert from 'node:assert/strict'
import { parentPort, type Transferable } from 'node:worker_threads'
import { sealChunk } from './sealing.ts'
import type { SealingReply, SealingRequest } from './sealing-protocol.ts'
import { TenantKeys } from './tenant-keys.ts'

assert(parentPort !== null, 'a sealing thread is started by the pool')
const port = parentPort

function answer(request: SealingRequest): SealingReply {
  const keys = new TenantKeys(request.secrets)
  const { frames } = request
  if (request.type === 'name') return { type: 'named', id: keys.chunkIdOf(...frames) }
  const { sealed, ...sums } = sealChunk(keys, { id: request.id, plain: frames }, request.compression)
  return { type: 'sealed', memory: sealed.buffer, ...sums }
}

port.on('message', (request: SealingRequest) => {
  const reply = answer(request)
  const given: Transferable[] = reply.type === 'sealed' ? [reply.memory] : []
  port.postMessage(reply, given)
})
