/**
 * The thread that names and seals large chunks.
 *
 * Owns: nothing between two requests. Knows nothing of: uploads. Rule: any error here ends the thread; the pool fails the
 * request that it had and starts another thread.
 */
import assert from 'node:assert/strict'
import { parentPort } from 'node:worker_threads'
import { sealChunk } from './sealing.ts'
import type { SealingReply, SealingRequest } from './sealing-protocol.ts'
import { TenantKeys } from './tenant-keys.ts'

assert(parentPort !== null, 'a sealing thread is started by the pool')
const port = parentPort

function answer(request: SealingRequest): SealingReply {
  const keys = new TenantKeys(request.secrets)
  const { frames } = request
  if (request.type === 'name') return { type: 'named', id: keys.chunkIdOf(...frames) }
  const { id, compression } = request
  const memory = Buffer.from(request.memory)
  const { sealed, ...sums } = sealChunk(keys, { id, plain: frames }, compression, memory)
  assert(sealed.buffer === request.memory, 'sealed bytes of any chunk fit into the memory')
  return { type: 'sealed', size: sealed.length, ...sums }
}

port.on('message', (request: SealingRequest) => port.postMessage(answer(request)))
