/**
 * Measures the disk at this moment, so that a slow minute of the disk is not taken for a slow program.
 */
import { createCipheriv, createSecretKey, randomBytes } from 'node:crypto'
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { Latencies, percentile } from './statistics.ts'

const SECONDS = 2
const BYTES = 4096
const COUNT_MAX = 1_000_000

export interface Anchor {
  readonly perSecond: number
  readonly p50Ms: number | null
  readonly p99Ms: number | null
}

/** Appends 4 KiB and makes it durable, one at a time, for two seconds. */
export function syncAnchor(folder: string): Anchor {
  const file = join(folder, 'anchor')
  const bytes = Buffer.alloc(BYTES, 1)
  const latencies = new Latencies(COUNT_MAX)
  const fd = openSync(file, 'a')
  const start = performance.now()
  let now = start
  while (now < start + 1000 * SECONDS && !latencies.isFull) {
    writeSync(fd, bytes)
    fdatasyncSync(fd)
    const then = now
    now = performance.now()
    latencies.add(now - then)
  }
  closeSync(fd)
  rmSync(file)
  const sorted = latencies.sorted()
  const perSecond = (1000 * latencies.count) / (now - start)
  return { perSecond, p50Ms: percentile(sorted, 0.5), p99Ms: percentile(sorted, 0.99) }
}

/** MB/s of this machine, without Holdfast. */
export interface Bounds {
  /** Appends of 4 MiB, each made durable: the upper bound of all copies on this disk together. */
  readonly diskWrite: number
  /** AES-256-GCM in pieces of 64 KiB on one core: the upper bound of one thread that opens frames. */
  readonly cipher: number
}

const CHUNK_BYTES = 4 * 1024 * 1024
const FRAME_BYTES = 64 * 1024

export function bounds(folder: string): Bounds {
  return { diskWrite: diskWrite(join(folder, 'bound')), cipher: cipher() }
}

function diskWrite(file: string): number {
  const bytes = randomBytes(CHUNK_BYTES)
  const fd = openSync(file, 'a')
  const rate = megabytesPerSecond(bytes.length, () => {
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at)
    fdatasyncSync(fd)
  })
  closeSync(fd)
  rmSync(file)
  return rate
}

function cipher(): number {
  const frame = randomBytes(FRAME_BYTES)
  const key = createSecretKey(randomBytes(32))
  const nonce = Buffer.alloc(12)
  return megabytesPerSecond(frame.length, () => {
    const sealing = createCipheriv('aes-256-gcm', key, nonce)
    sealing.update(frame)
    sealing.final()
    sealing.getAuthTag()
  })
}

function megabytesPerSecond(bytes: number, work: () => void): number {
  const start = performance.now()
  let rounds = 0
  while (performance.now() < start + 1000 * SECONDS) {
    work()
    rounds += 1
  }
  return (rounds * bytes) / 1e3 / (performance.now() - start)
}
