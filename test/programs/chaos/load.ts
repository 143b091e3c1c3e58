/**
 * The clients of a run: some on registers, each request asked once, and some that keep a ledger.
 *
 * Owns: which there are, their buckets. Knows nothing of: faults, judgement.
 */
import { ProcessCluster } from '../../helpers/process-cluster.ts'
import { RecordedWork } from '../../helpers/recorded-work.ts'
import { Random } from '../simulator/random.ts'
import type { LedgerClient } from './ledger-client.ts'
import { LEDGER_BUCKET, LedgerWork } from './ledger-work.ts'

const REGISTER_CLIENTS_A_NODE = 2
/** Histories of one register that are too long cannot be searched. */
const SECONDS_A_REGISTER = 6
const REGISTERS_MIN = 5

interface LoadOptions {
  readonly seed: number
  /** About. */
  readonly seconds: number
  readonly ledgerClients: number
  /** Of each client between two requests. */
  readonly restMs: number
  requester(client: number, random: Random, ledger: LedgerWork): LedgerClient
}

export interface Load {
  readonly registers: RecordedWork
  readonly ledger: LedgerWork
  /** Resolves when every request is answered, or abandoned. */
  stop(): Promise<void>
}

/** Clients of registers run at each present node. */
export async function startLoad(cluster: ProcessCluster, options: LoadOptions): Promise<Load> {
  const { seed, seconds, ledgerClients, restMs } = options
  const registers = new RecordedWork(cluster, {
    clientsPerNode: REGISTER_CLIENTS_A_NODE,
    keys: Math.max(REGISTERS_MIN, Math.ceil(seconds / SECONDS_A_REGISTER)),
    seed,
    restMs,
  })
  const ledger = new LedgerWork()
  for (const name of ['work', LEDGER_BUCKET]) await makeBucket(cluster, name)
  registers.start()
  ledger.start(
    Array.from({ length: ledgerClients }, (_, client) => {
      const random = new Random(seed, `client ${client}`)
      return { client, random, restMs, requester: options.requester(client, random, ledger) }
    }),
  )
  return {
    registers,
    ledger,
    stop: async () => void (await Promise.all([registers.stop(), ledger.stop()])),
  }
}

async function makeBucket(cluster: ProcessCluster, name: string): Promise<void> {
  const first = cluster.plan[0]?.nodeId ?? ''
  const { status, body } = await cluster.call(first, 'POST', '/buckets', JSON.stringify({ name }))
  if (status !== 201) throw new Error(`Cannot make bucket ${name}: ${status} ${body.toString()}`)
}
