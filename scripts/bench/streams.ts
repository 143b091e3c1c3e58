/**
 * Memory while many large uploads run at once: each is aborted before its end, because only the memory of the nodes counts.
 *
 * Owns: when they are aborted. Rule: bounded by time and by bytes, because every byte is written three times.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { BenchObjects } from './objects.ts'
import type { Processes } from './processes.ts'
import { DURABILITY, type RowFigures } from './report.ts'
import type { Workplace } from './workplace.ts'

const GIB = 1024 ** 3
const UPLOADS = 10
const SIZE = 5 * GIB
/** Bytes of all uploads together. */
const BYTES_MAX = 12 * GIB
const LOOK_MS = 100

export const STREAMS_ROW = `PUT 5 GiB, ${UPLOADS} at once, broken off`

export async function measureStreams(
  place: Workplace,
  seconds: number,
  processes: Processes | null,
): Promise<RowFigures> {
  const objects = new BenchObjects('5g', SIZE)
  const end = new AbortController()
  const failures: string[] = []
  let bytes = 0
  const onBytes = (more: number): void => void (bytes += more)
  processes?.startMeasuring()
  const start = performance.now()
  const elapsed = (): number => (performance.now() - start) / 1000
  const uploads = Array.from({ length: UPLOADS }, async (_, client) => {
    await place
      .stream(objects, { client, signal: end.signal, onBytes })
      .catch((error: unknown) => failures.push(error instanceof Error ? error.message : String(error)))
  })
  while (elapsed() < seconds && bytes < BYTES_MAX && failures.length < UPLOADS) await wait(LOOK_MS)
  const measured = { seconds: elapsed(), megabytes: bytes / 1e6, nodes: processes?.sinceStart() ?? null }
  end.abort()
  await Promise.all(uploads)
  return {
    name: STREAMS_ROW,
    durability: DURABILITY,
    clients: UPLOADS,
    seconds: measured.seconds,
    operations: 0,
    operationsPerSecond: null,
    megabytesPerSecond: measured.megabytes / measured.seconds,
    p50Ms: null,
    p99Ms: null,
    errors: failures.length,
    firstError: failures[0] ?? null,
    nodeCpuSecondsPer1000: null,
    clientCpuSecondsPer1000: null,
    peakResidentBytes: measured.nodes?.peakResidentBytes ?? null,
    writtenPerStored: null,
  }
}
