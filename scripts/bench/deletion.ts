/**
 * `node scripts/bench/deletion.ts [--objects 1000000]`: how long the deletion of a tenant takes that has this many small objects in
 * one bucket, how long its longest entry blocks the node, and whether heartbeats are late meanwhile.
 *
 * Owns: the measurement, over the LevelDB of one node; the log is left out. The heartbeat runs in the same thread, as in a node.
 * Rule: no figure is judged here; the load of the machine is printed with them.
 */
import { availableParallelism, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { longOperationKeys } from '../../src/state-machine/long-operations/keys.ts'
import { TenantDeletion } from '../../src/workers/tenant-deletion.ts'
import { UsageError, wholeNumber } from '../local/options.ts'
import { OneNode } from './one-node.ts'

/** The default heartbeat interval of nodes. */
const HEARTBEAT_MS = 100

const node = new OneNode('deletion')

async function begin(): Promise<void> {
  const reason = 'to measure it'
  const about = { operationId: 'op', requestedBy: 'me', reason, locksEndedBy: 0 }
  await node.commit([
    { type: 'disableTenant', tenantId: 'acme', reason },
    { type: 'deleteTenant', tenantId: 'acme', ...about },
  ])
}

/** The greatest delay of a heartbeat, and how many heartbeats came after the next one was due. */
function heart() {
  let [due, latestMs, missed] = [performance.now() + HEARTBEAT_MS, 0, 0]
  const timer = setInterval(() => {
    const late = performance.now() - due
    latestMs = Math.max(latestMs, late)
    if (late > HEARTBEAT_MS) missed++
    due = performance.now() + HEARTBEAT_MS
  }, HEARTBEAT_MS)
  return {
    stop: (): { readonly latestMs: number; readonly missed: number } => {
      clearInterval(timer)
      return { latestMs, missed }
    },
  }
}

async function measure(objects: number): Promise<readonly string[]> {
  await node.open()
  await node.fill(objects)
  await begin()
  const cluster = { isJobRunner: () => true }
  const { reader, propose, logger } = node
  const deletion = new TenantDeletion({ cluster, state: reader, propose, logger })
  const [start, beats] = [performance.now(), heart()]
  node.longestEntryMs = 0
  while (await deletion.round()) continue
  const seconds = (performance.now() - start) / 1000
  const { latestMs, missed } = beats.stop()
  const { status = 'missing', progress } = reader.get(longOperationKeys.operation('op')) ?? {}
  const done = progress?.blobsDone ?? 0
  return [
    `${objects} objects in one bucket; the operation has ${status}, ${done} versions are gone`,
    `${seconds.toFixed(1)} s, ${(done / seconds).toFixed(0)} versions/s`,
    `longest entry: ${node.longestEntryMs.toFixed(0)} ms with its write to the disk`,
    `heartbeats every ${HEARTBEAT_MS} ms: the latest came ${latestMs.toFixed(0)} ms late, ${missed} later than the next was due`,
  ]
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { objects: { type: 'string', default: '1000000' } } })
  const load = loadavg()[0]?.toFixed(2) ?? '?'
  const lines = await measure(wholeNumber(values.objects, '--objects', { min: 1, max: 10_000_000 }))
  for (const line of lines) process.stdout.write(`${line}\n`)
  process.stdout.write(`${availableParallelism()} cores, load before: ${load}\n`)
}

try {
  await main()
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 2
} finally {
  await node.close()
}
