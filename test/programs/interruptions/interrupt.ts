/**
 * An operation on members of a real cluster, interrupted at the start of one of its steps, and followed to its end.
 *
 * Owns: the kills and their times, and the operator's actions when it does not end by itself. Knows nothing of: the allowed ends.
 * Rule: the moment is a line in the log of the leader, never a time.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { until } from '../../helpers/async.ts'
import {
  changeMembers,
  type SeenMembership,
  untilAllowed,
  type Requested,
} from '../../helpers/member-steps.ts'
import type { ProcessCluster } from '../../helpers/process-cluster.ts'
import { StepWatch } from './step-watch.ts'

export const FATES = ['comes back', 'is gone'] as const
export type Fate = (typeof FATES)[number]

export interface Interruption {
  readonly requested: Requested
  readonly step: string
  /** The leader of that moment. */
  readonly leader: boolean
  /** By name. */
  readonly others: readonly string[]
  readonly fate: Fate
  /** Far more than any step of a small cluster takes; then an operator intervenes. */
  readonly waitMs?: number
}

export interface InterruptedOperation {
  readonly operationId: string
  readonly status: string
  readonly error: string | null
  readonly killed: readonly string[]
  /** The actions of an operator, in order. */
  readonly manualSteps: readonly string[]
}

interface SeenOperation {
  readonly status: string
  readonly error: string | null
}

const ENDED: readonly string[] = ['succeeded', 'failed', 'cancelled']
const WAIT_MS = 25_000
const POLL_MS = 100
/** Several election time-outs. */
const ELECTED_MS_MAX = 5_000
const REASON = 'its return is unknown'

export async function interrupt(
  cluster: ProcessCluster,
  members: readonly string[],
  interruption: Interruption,
): Promise<InterruptedOperation> {
  const { requested, step, leader, others, fate } = interruption
  const leads = await leaderOf(cluster)
  const bystander = members.find((name) => name !== leads && !others.includes(name)) ?? leads
  const watch = new StepWatch(members.map((name) => cluster.node(name)))
  // The forwarding node may lose the leader meanwhile: the started operation is in the log.
  const asked = cluster.admin(bystander, { method: 'POST', ...requested }).catch(() => null)
  const refused = asked.then((answer) => {
    if (answer !== null && answer.status >= 400 && answer.status < 500)
      throw new Error(answer.body.toString())
    return new Promise<never>(() => undefined)
  })
  const seen = await Promise.race([watch.until(step), refused]).finally(() => watch.close())
  const victims = [...new Set([...(leader ? [seen.nodeId] : []), ...others])]
  const killed = victims.filter((name) => cluster.isRunning(name))
  await Promise.all(killed.map((name) => cluster.signal(name, 'SIGKILL')))
  if (fate === 'comes back') {
    await untilLedOrStuck(cluster)
    for (const name of killed) cluster.startNode(name)
  }
  const gone = fate === 'is gone' ? killed : []
  const manualSteps: string[] = []
  const { operationId } = seen
  const end =
    (await ended(cluster, operationId, interruption.waitMs)) ??
    (await operate(cluster, { operationId, gone, manualSteps }))
  await asked
  return { operationId, ...end, killed, manualSteps }
}

export async function leaderOf(cluster: ProcessCluster): Promise<string> {
  let leader: string | undefined
  await until('somebody leads', async () => (leader = await cluster.leader()) !== undefined)
  return leader ?? ''
}

/** Another node takes over if the remaining nodes can elect it. */
async function untilLedOrStuck(cluster: ProcessCluster): Promise<void> {
  const giveUpAt = performance.now() + ELECTED_MS_MAX
  while (performance.now() < giveUpAt && (await cluster.leader()) === undefined) await wait(POLL_MS)
}

/** Cancels the operation; if that is not possible any more, declares the dead member lost. */
async function operate(
  cluster: ProcessCluster,
  about: { readonly operationId: string; readonly gone: readonly string[]; readonly manualSteps: string[] },
): Promise<SeenOperation> {
  const { operationId, gone, manualSteps } = about
  const at = await leaderOf(cluster)
  const cancel = `/cluster/operations/${operationId}/cancel`
  const { status } = await cluster.admin(at, { method: 'POST', path: cancel })
  manualSteps.push(`cancel: ${status}`)
  const end = status === 200 ? await ended(cluster, operationId) : null
  if (end !== null) return end
  for (const name of gone) {
    const lost = { path: `/cluster/voters/${name}/lost`, body: { reason: REASON, confirm: name } }
    await untilAllowed(cluster, at, lost)
    await changeMembers(cluster, at, lost)
    manualSteps.push(`lost ${name}`)
  }
  return (await ended(cluster, operationId)) ?? { status: 'never ends', error: null }
}

/** Null: not for a long time. */
async function ended(
  cluster: ProcessCluster,
  operationId: string,
  waitMs = WAIT_MS,
): Promise<SeenOperation | null> {
  const giveUpAt = performance.now() + waitMs
  while (performance.now() < giveUpAt) {
    const seen = await look(cluster, operationId).catch(() => null)
    if (seen !== null) return seen
    await wait(POLL_MS)
  }
  return null
}

async function look(cluster: ProcessCluster, operationId: string): Promise<SeenOperation | null> {
  const at = await cluster.leader()
  if (at === undefined) return null
  const [{ status, error }, { changeInProgress }] = await Promise.all([
    reported<SeenOperation>(cluster, at, `/cluster/operations/${operationId}`),
    reported<SeenMembership>(cluster, at, '/cluster/membership'),
  ])
  return ENDED.includes(status) && changeInProgress === null ? { status, error } : null
}

async function reported<T>(cluster: ProcessCluster, at: string, path: string): Promise<T> {
  const { status, body } = await cluster.admin(at, { method: 'GET', path })
  if (status !== 200) throw new Error(body.toString())
  return JSON.parse(body.toString()) as T
}
