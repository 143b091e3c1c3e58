/**
 * An operation on members of a real cluster, struck at the moment in which one of its steps begins, and followed to its end.
 *
 * Owns: who is killed when, and what is left to an operator when it does not end by itself. Knows nothing of: what is allowed at the end.
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

export interface Blow {
  readonly requested: Requested
  readonly step: string
  /** Whoever leads then. */
  readonly leader: boolean
  /** By name. */
  readonly others: readonly string[]
  readonly fate: Fate
  /** Far more than any step of so small a cluster takes by itself; then an operator looks after it. */
  readonly patienceMs?: number
}

export interface Struck {
  readonly operationId: string
  readonly status: string
  readonly error: string | null
  readonly killed: readonly string[]
  /** What an operator had to do, in order. */
  readonly byHand: readonly string[]
}

interface SeenOperation {
  readonly status: string
  readonly error: string | null
}

const ENDED: readonly string[] = ['succeeded', 'failed', 'cancelled']
const PATIENCE_MS = 25_000
const POLL_MS = 100
/** Several election time-outs. */
const ELECTED_MS_MAX = 5_000
const REASON = 'nobody knows when it comes back'

export async function strike(
  cluster: ProcessCluster,
  members: readonly string[],
  blow: Blow,
): Promise<Struck> {
  const { requested, step, leader, others, fate } = blow
  const leads = await leaderOf(cluster)
  const bystander = members.find((name) => name !== leads && !others.includes(name)) ?? leads
  const watch = new StepWatch(members.map((name) => cluster.node(name)))
  // Whoever forwards it may lose the leader over it: what was begun stands in the log.
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
  const byHand: string[] = []
  const { operationId } = seen
  const end =
    (await ended(cluster, operationId, blow.patienceMs)) ??
    (await operate(cluster, { operationId, gone, byHand }))
  await asked
  return { operationId, ...end, killed, byHand }
}

export async function leaderOf(cluster: ProcessCluster): Promise<string> {
  let leader: string | undefined
  await until('somebody leads', async () => (leader = await cluster.leader()) !== undefined)
  return leader ?? ''
}

/** Somebody else takes over if those who are left can elect one. */
async function untilLedOrStuck(cluster: ProcessCluster): Promise<void> {
  const giveUpAt = performance.now() + ELECTED_MS_MAX
  while (performance.now() < giveUpAt && (await cluster.leader()) === undefined) await wait(POLL_MS)
}

/** Gives it up; if that is not possible any more, calls whoever is gone lost. */
async function operate(
  cluster: ProcessCluster,
  about: { readonly operationId: string; readonly gone: readonly string[]; readonly byHand: string[] },
): Promise<SeenOperation> {
  const { operationId, gone, byHand } = about
  const at = await leaderOf(cluster)
  const cancel = `/cluster/operations/${operationId}/cancel`
  const { status } = await cluster.admin(at, { method: 'POST', path: cancel })
  byHand.push(`cancel: ${status}`)
  const end = status === 200 ? await ended(cluster, operationId) : null
  if (end !== null) return end
  for (const name of gone) {
    const lost = { path: `/cluster/voters/${name}/lost`, body: { reason: REASON, confirm: name } }
    await untilAllowed(cluster, at, lost)
    await changeMembers(cluster, at, lost)
    byHand.push(`lost ${name}`)
  }
  return (await ended(cluster, operationId)) ?? { status: 'never ends', error: null }
}

/** Null: not for a long time. */
async function ended(
  cluster: ProcessCluster,
  operationId: string,
  patienceMs = PATIENCE_MS,
): Promise<SeenOperation | null> {
  const giveUpAt = performance.now() + patienceMs
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
    told<SeenOperation>(cluster, at, `/cluster/operations/${operationId}`),
    told<SeenMembership>(cluster, at, '/cluster/membership'),
  ])
  return ENDED.includes(status) && changeInProgress === null ? { status, error } : null
}

async function told<T>(cluster: ProcessCluster, at: string, path: string): Promise<T> {
  const { status, body } = await cluster.admin(at, { method: 'GET', path })
  if (status !== 200) throw new Error(body.toString())
  return JSON.parse(body.toString()) as T
}
