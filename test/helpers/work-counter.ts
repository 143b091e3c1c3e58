/**
 * Loaded into a real node before anything else (`--import`): counts flushes, rows and barriers, and says the counts on a socket.
 *
 * Owns: the counters, shared by all threads of the process. Knows nothing of: bounds, requests.
 * Rule: it counts calls and changes none; without HOLDFAST_WORK_SOCKET it only counts.
 */
import fs from 'node:fs'
import { createServer } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { PerformanceObserver } from 'node:perf_hooks'
import v8 from 'node:v8'
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'
import { ClassicLevel } from 'classic-level'
import { ReadBarriers } from '../../cluster/node/reads/read-barriers.ts'

/** In the order of their places in the shared memory. */
const COUNTED = ['fileFlushes', 'levelFlushes', 'rowsWritten', 'rowsRead', 'barriers'] as const
type Counted = (typeof COUNTED)[number]

/** What the socket answers. */
export interface WorkCounts extends Readonly<Record<Counted, number>> {
  /** Bytes in use on the heap of the main thread, and outside it for buffers. They only grow while `collections` stays. */
  readonly heapBytes: number
  readonly bufferBytes: number
  readonly collections: number
}

const DATA_NAME = 'holdfast-work-counter'

function sharedCounters(): BigInt64Array {
  const given = getEnvironmentData(DATA_NAME)
  if (given instanceof SharedArrayBuffer) return new BigInt64Array(given)
  const memory = new SharedArrayBuffer(8 * COUNTED.length)
  // Threads that start later find it.
  setEnvironmentData(DATA_NAME, memory)
  return new BigInt64Array(memory)
}

const counters = sharedCounters()

function add(what: Counted, amount = 1): void {
  Atomics.add(counters, COUNTED.indexOf(what), BigInt(amount))
}

type Note = (args: readonly unknown[], result: unknown) => void

/** Calls continue as they are; `note` sees the arguments and the result. */
function wrap(target: object, name: string, note: Note): void {
  const original: unknown = Reflect.get(target, name)
  if (typeof original !== 'function')
    throw new Error(`There is no '${name}' to count: look at ${import.meta.url}`)
  Reflect.set(target, name, function wrapped(this: unknown, ...args: unknown[]): unknown {
    const result: unknown = Reflect.apply(original, this, args)
    note(args, result)
    return result
  })
}

function flag(options: unknown, name: string): boolean {
  return typeof options === 'object' && options !== null && Reflect.get(options, name) === true
}

const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 0)

async function countFlushes(): Promise<void> {
  for (const name of ['fsync', 'fdatasync', 'fsyncSync', 'fdatasyncSync'])
    wrap(fs, name, () => add('fileFlushes'))
  syncBuiltinESMExports()
  const handle = await fs.promises.open(import.meta.filename)
  const prototype: unknown = Object.getPrototypeOf(handle)
  await handle.close()
  if (typeof prototype !== 'object' || prototype === null) throw new Error('A file handle has no prototype')
  for (const name of ['sync', 'datasync']) wrap(prototype, name, () => add('fileFlushes'))
}

function countRows(): void {
  const level = ClassicLevel.prototype
  for (const name of ['_get', '_getSync']) wrap(level, name, () => add('rowsRead'))
  wrap(level, '_getMany', ([keys]) => add('rowsRead', lengthOf(keys)))
  wrap(level, '_batch', ([operations, options]) => {
    add('rowsWritten', lengthOf(operations))
    if (flag(options, 'sync')) add('levelFlushes')
  })
  once(level, '_chainedBatch', (batch) => {
    for (const name of ['_put', '_del']) wrap(batch, name, () => add('rowsWritten'))
    wrap(batch, '_write', ([options]) => void (flag(options, 'sync') && add('levelFlushes')))
  })
  once(level, '_iterator', (iterator) => {
    wrap(iterator, '_next', (_, row) => void countLater(row, (value) => (value === undefined ? 0 : 1)))
    wrap(iterator, '_nextv', (_, rows) => void countLater(rows, lengthOf))
  })
}

/** Wraps the methods of what a call returns, once for its class. */
function once(target: object, name: string, wrapAll: (prototype: object) => void): void {
  let isDone = false
  wrap(target, name, (_, result) => {
    if (isDone || typeof result !== 'object' || result === null) return
    isDone = true
    const prototype: unknown = Object.getPrototypeOf(result)
    if (typeof prototype === 'object' && prototype !== null) wrapAll(prototype)
  })
}

async function countLater(result: unknown, countOf: (value: unknown) => number): Promise<void> {
  try {
    add('rowsRead', countOf(await result))
  } catch {
    // The caller of the iterator handles its failure.
  }
}

function answerOn(path: string): void {
  let collections = 0
  new PerformanceObserver((list) => void (collections += list.getEntries().length)).observe({
    entryTypes: ['gc'],
  })
  const counts = (): WorkCounts => {
    const of = (what: Counted): number => Number(Atomics.load(counters, COUNTED.indexOf(what)))
    const { fileFlushes, levelFlushes, rowsWritten, rowsRead, barriers } = {
      fileFlushes: of('fileFlushes'),
      levelFlushes: of('levelFlushes'),
      rowsWritten: of('rowsWritten'),
      rowsRead: of('rowsRead'),
      barriers: of('barriers'),
    }
    const heapBytes = v8.getHeapStatistics().used_heap_size
    const bufferBytes = process.memoryUsage().external
    return { fileFlushes, levelFlushes, rowsWritten, rowsRead, barriers, heapBytes, bufferBytes, collections }
  }
  const server = createServer((request, response) => {
    if (request.url === '/collect') globalThis.gc?.()
    response.end(JSON.stringify(counts()))
  })
  server.listen(path).unref()
}

await countFlushes()
countRows()
wrap(ReadBarriers.prototype, 'barrier', () => add('barriers'))
const socketPath = process.env['HOLDFAST_WORK_SOCKET']
if (isMainThread && socketPath !== undefined) answerOn(socketPath)
