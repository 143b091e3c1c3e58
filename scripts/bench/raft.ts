/**
 * The Raft row: writes of 256 bytes through three processes of Holdfast and three of etcd, in turns.
 *
 * Owns: the turns and the comparison. Knows nothing of: how either system is started.
 * Rules: both get the same bytes from the same clients over the same number of connections; each turn begins with fresh
 * processes on an empty folder, so that no turn pays for the files of another; a missing etcd is reported, never an error.
 */
import { randomBytes } from 'node:crypto'
import { BenchClient } from './client.ts'
import { runLoad } from './load.ts'
import { Processes } from './processes.ts'
import { etcdVersion, type RaftSystem, startEtcd, startHoldfast } from './raft-system.ts'
import { percentile } from './statistics.ts'

export const RAFT_ROW = 'raft: put 256 B'
export const ETCD_MISSING = 'etcd not found: apt-get install etcd-server'
const ROUNDS = 3
const VALUE_BYTES = 256
/** Enough values that no compression or cache of either side sees the same one soon. */
const VALUES = 512
/** Code that runs once for an entry, not once for a write, needs this long until it is optimized. */
const WARM_UP_SECONDS_MAX = 15
const WARM_UP_SHARE = 0.5

export interface RaftTurn {
  readonly system: string
  readonly seconds: number
  readonly operations: number
  readonly operationsPerSecond: number
  readonly p50Ms: number | null
  readonly p99Ms: number | null
  readonly errors: number
  readonly firstError: string | null
  readonly nodeCpuSecondsPer1000: number | null
}

export interface RaftFigures {
  readonly name: string
  readonly clients: number
  /** Null: not installed, so only Holdfast was measured. */
  readonly etcd: string | null
  readonly turns: readonly RaftTurn[]
  /** Operations a second of Holdfast for each one of etcd, over all turns. */
  readonly ratio: number | null
}

export interface RaftOptions {
  readonly clients: number
  readonly seconds: number
  readonly say: (text: string) => void
}

export async function measureRaft({ clients, seconds, say }: RaftOptions): Promise<RaftFigures> {
  const etcd = etcdVersion()
  if (etcd === null) say(`${RAFT_ROW}: ${ETCD_MISSING}`)
  const starts = etcd === null ? [startHoldfast] : [startHoldfast, startEtcd]
  const turns: RaftTurn[] = []
  for (let round = 0; round < ROUNDS; round++) {
    for (const start of starts) {
      const system = await start()
      say(`${RAFT_ROW}: ${system.name}, ${clients} clients, ${seconds} s ...`)
      turns.push(await withSystem(system, () => measureTurn(system, { clients, seconds })))
    }
  }
  return { name: RAFT_ROW, clients, etcd, turns, ratio: ratioOf(turns) }
}

/** Null when one of the two was not measured or answered nothing. */
export function ratioOf(turns: readonly RaftTurn[]): number | null {
  const rate = (name: string): number => {
    const own = turns.filter(({ system }) => system === name)
    return sum(own.map(({ operations }) => operations)) / sum(own.map(({ seconds }) => seconds))
  }
  const ratio = rate('holdfast') / rate('etcd')
  return Number.isFinite(ratio) ? ratio : null
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

async function withSystem<T>(system: RaftSystem, work: () => Promise<T>): Promise<T> {
  const interrupted = (): void => void system.stop().finally(() => process.exit(130))
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted)
  try {
    return await work()
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted)
    await system.stop()
  }
}

async function measureTurn(
  { name, endpoints, pids }: RaftSystem,
  { clients, seconds }: Pick<RaftOptions, 'clients' | 'seconds'>,
): Promise<RaftTurn> {
  const connections = Array.from(
    { length: clients },
    (_, client) => new BenchClient(endpoints[client % endpoints.length] ?? '', null, { root: '' }),
  )
  const operation = putThrough(connections)
  const processes = Processes.of(pids)
  try {
    await runLoad({ clients, operation, seconds: Math.min(WARM_UP_SECONDS_MAX, WARM_UP_SHARE * seconds) })
    processes?.startMeasuring()
    const load = await runLoad({ clients, operation, seconds })
    const cpuSeconds = processes?.sinceStart().cpuSeconds ?? null
    const sorted = load.latencies.sorted()
    const operations = sorted.length
    return {
      system: name,
      seconds: load.seconds,
      operations,
      operationsPerSecond: operations / load.seconds,
      p50Ms: percentile(sorted, 0.5),
      p99Ms: percentile(sorted, 0.99),
      errors: load.errors,
      firstError: load.firstError,
      nodeCpuSecondsPer1000:
        cpuSeconds === null || operations === 0 ? null : (1000 * cpuSeconds) / operations,
    }
  } finally {
    await Promise.all(connections.map((connection) => connection.close()))
  }
}

/** A new key with each write. etcd's JSON takes base64, and Holdfast's the same, so that the bodies are equal. */
function putThrough(connections: readonly BenchClient[]): (client: number) => Promise<void> {
  const values = Array.from({ length: VALUES }, () => randomBytes(VALUE_BYTES).toString('base64'))
  let turn = 0
  return async (client) => {
    const key = Buffer.from(`key-${String(turn++).padStart(12, '0')}`).toString('base64')
    const body = Buffer.from(`{"key":"${key}","value":"${values[turn % VALUES]}"}`)
    const answer = await connections[client]?.ask({ method: 'POST', path: '/v3/kv/put', body })
    if (answer?.status !== 200) throw new Error(`The write gave ${answer?.status}`)
  }
}
