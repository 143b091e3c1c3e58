/**
 * The WAL thread: takes batches off its port and makes them durable.
 *
 * Owns: group commit. All batches that wait on the port when the disk is free go into one write and one fdatasync.
 * Rule: answers leave in the order of the requests, and only after the flush; a failure is reported once, and no request
 * after it is answered, except `close`.
 */
import assert from 'node:assert/strict'
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { cipherOf } from '../base/metadata-cipher.ts'
import { SystemClock } from '../base/system-clock.ts'
import { FlushWitness } from './flush-witness.ts'
import { SegmentedLog } from './segmented-log.ts'
import type { AppendRequest, WalReply, WalRequest, WalThreadOptions } from './wal-protocol.ts'
import { buffersOf, packEntries, packError, unpackBatch, unpackRepair } from './wal-protocol.ts'

/** A group that holds this much is closed; further batches go into the next one. */
const GROUP_BYTES_MAX = 8 * 1024 * 1024

assert(parentPort, 'this file is the entry of a thread')
const port = parentPort
const clock = new SystemClock()
const log = new SegmentedLog({
  ...(workerData as WalThreadOptions),
  cipher: cipherOf((workerData as WalThreadOptions).metadataKey, 'log'),
  now: () => clock.now(),
  onDiskFull: () => reply({ type: 'diskFull' }),
})
const witness = new FlushWitness((workerData as WalThreadOptions).witness)
let failed = false

orFail(() => {
  const content = log.open()
  const hasHoles = content.holes.length > 0
  reply({ type: 'opened', content, metrics: log.metrics() }, buffersOf(content))
  if (!hasHoles) makeReserve()
})
port.on('message', (first: WalRequest) => {
  for (let request: WalRequest | null = first; request !== null; ) request = serve(request)
})

/** Serves a request together with all that may share its flush; returns the next request, which could not. */
function serve(request: WalRequest): WalRequest | null {
  switch (request.type) {
    case 'append':
      return serveGroup(request)
    case 'repair':
      orFail(() => {
        const content = log.repair(unpackRepair(request))
        reply({ type: 'repaired', content, metrics: log.metrics() }, buffersOf(content))
        makeReserve()
      })
      return nextRequest()
    case 'compact':
      orFail(() => {
        log.compact(request.base)
        reply({ type: 'compacted', metrics: log.metrics() })
      })
      return nextRequest()
    case 'read':
      orFail(() => {
        const found = log.read(request.range)
        const entries = found === null ? null : packEntries(found)
        const buffers = entries === null ? [] : [entries.table.buffer, entries.data.buffer]
        reply({ type: 'entries', id: request.id, entries }, buffers)
      })
      return nextRequest()
    case 'refillReserve':
    case 'releaseReserve':
      orFail(() => {
        log[request.type]()
        reply({ type: 'reserved', metrics: log.metrics() })
      })
      return nextRequest()
    case 'close':
      log.close()
      witness.close()
      reply({ type: 'closed' })
      port.close()
      return null
  }
}

function serveGroup(first: AppendRequest): WalRequest | null {
  const group = [first]
  let bytes = first.entries.data.byteLength
  let next = nextRequest()
  while (next?.type === 'append' && bytes < GROUP_BYTES_MAX) {
    group.push(next)
    bytes += next.entries.data.byteLength
    next = nextRequest()
  }
  orFail(() => {
    log.append(group.map(unpackBatch))
    witness.record(log.lastBatch)
    reply({
      type: 'durable',
      sequences: group.map((request) => request.sequence),
      bytes,
      metrics: log.metrics(),
    })
  })
  return next
}

/** The node starts meanwhile; its batches wait here until the reserve is made. */
function makeReserve(): void {
  log.makeReserve()
  reply({ type: 'reserved', metrics: log.metrics() })
}

function nextRequest(): WalRequest | null {
  return (receiveMessageOnPort(port)?.message as WalRequest | undefined) ?? null
}

function orFail(action: () => void): void {
  if (failed) return
  try {
    action()
  } catch (error) {
    failed = true
    reply({ type: 'failed', error: packError(error) })
  }
}

function reply(message: WalReply, transfer: ArrayBuffer[] = []): void {
  port.postMessage(message, transfer)
}
