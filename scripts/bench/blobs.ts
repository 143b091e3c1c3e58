/**
 * `node scripts/bench/blobs.ts`: small blobs in packs compared with a file for each, on the disk of this machine.
 *
 * Owns: the turns (files, packs, files, packs) and the ratio. Knows nothing of: nodes, objects.
 * Rule: both run the same writers with the same blobs in one process, in turn, so that a slow minute of the disk affects both.
 */
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { DiskBlobStore } from '../../cluster/blobs/disk/disk-blob-store.ts'
import type { Logger } from '../../cluster/base/types.ts'
import { Latencies, percentile } from './statistics.ts'
import { wholeNumber } from '../local/options.ts'

const TURNS = ['files', 'packs', 'files', 'packs'] as const
const COUNT_MAX = 1_000_000
const say = (fields: object, message: string): void =>
  void process.stderr.write(`${message} ${JSON.stringify(fields)}\n`)
const logger: Logger = { fatal: say, error: say, warn: say, info: say, debug: say, child: () => logger }

interface Load {
  readonly seconds: number
  readonly writers: number
  readonly bytes: number
}

interface Turn {
  readonly perSecond: number
  readonly p50Ms: number | null
  readonly p99Ms: number | null
  /** Processor time of this process for each blob. */
  readonly cpuMs: number
}

async function measure(kind: (typeof TURNS)[number], load: Load): Promise<Turn> {
  const parent = await mkdtemp(join(tmpdir(), 'holdfast-bench-blobs-'))
  const onFatal = (error: Error): never => {
    throw error
  }
  const fileBytesMin = kind === 'files' ? 0 : Infinity
  const store = new DiskBlobStore({ directory: join(parent, 'blobs'), logger, onFatal, fileBytesMin })
  try {
    await store.open()
    return await writeFor(store, load)
  } finally {
    await store.close()
    await rm(parent, { recursive: true, force: true })
  }
}

async function writeFor(store: DiskBlobStore, { seconds, writers, bytes }: Load): Promise<Turn> {
  const body = randomBytes(bytes)
  const checksum = createHash('sha256').update(body).digest('hex')
  const latencies = new Latencies(COUNT_MAX)
  const cpuBefore = process.cpuUsage()
  const start = performance.now()
  const writer = async (): Promise<void> => {
    while (performance.now() < start + 1000 * seconds && !latencies.isFull) {
      const before = performance.now()
      const name = { id: randomBytes(32).toString('hex'), birth: 'bench-1' }
      await store.write(name, pieceOf(body), { size: bytes, checksum })
      latencies.add(performance.now() - before)
    }
  }
  await Promise.all(Array.from({ length: writers }, writer))
  const elapsedSeconds = (performance.now() - start) / 1000
  const { user, system } = process.cpuUsage(cpuBefore)
  const sorted = latencies.sorted()
  return {
    perSecond: latencies.count / elapsedSeconds,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    cpuMs: (user + system) / 1000 / latencies.count,
  }
}

async function* pieceOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

function lineOf(kind: string, { perSecond, p50Ms, p99Ms, cpuMs }: Turn): string {
  const ms = (value: number | null): string => `${(value ?? 0).toFixed(2)} ms`
  return `${kind}  ${perSecond.toFixed(0)}/s  p50 ${ms(p50Ms)}  p99 ${ms(p99Ms)}  CPU ${ms(cpuMs)} each`
}

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    writers: { type: 'string', default: '32' },
    bytes: { type: 'string', default: '65536' },
  },
})
const load: Load = {
  seconds: wholeNumber(values.seconds, '--seconds', { min: 1, max: 600 }),
  writers: wholeNumber(values.writers, '--writers', { min: 1, max: 128 }),
  bytes: wholeNumber(values.bytes, '--bytes', { min: 0, max: 262_143 }),
}
process.stdout.write(`${load.bytes} bytes, ${load.writers} writers, ${load.seconds} s a turn\n`)
const rates = { files: 0, packs: 0 }
for (const kind of TURNS) {
  const turn = await measure(kind, load)
  rates[kind] += turn.perSecond
  process.stdout.write(`${lineOf(kind, turn)}\n`)
}
process.stdout.write(`packs / files: ${(rates.packs / rates.files).toFixed(2)}\n`)
