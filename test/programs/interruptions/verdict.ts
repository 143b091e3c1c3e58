/**
 * Whether a cluster is whole after an operation was interrupted: as before or as requested, nothing in between, nothing lost.
 *
 * Owns: the checks, on every live node. Knows nothing of: the interruption.
 */
import { until } from '../../helpers/async.ts'
import { membershipAt, placed, type SeenMembership } from '../../helpers/member-steps.ts'
import { type ProcessCluster, sha256 } from '../../helpers/process-cluster.ts'

export interface Expected {
  /** `placed` of each allowed end, by the status of the operation. */
  readonly ends: Readonly<Record<string, string>>
  readonly status: string
  /** By name: the SHA-256 of each acknowledged object. */
  readonly objects: ReadonlyMap<string, string>
  /** Of each chunk, once all is done; null: a member that should hold some is gone. */
  readonly copies: number | null
  /** Copies have come to it; null: they need not have. */
  readonly holder: string | null
}

const ROLES: Readonly<Record<string, string>> = {
  active: 'voter',
  joining: 'learner',
  draining: 'learner',
  drained: 'learner',
  lost: 'none',
}

/** The violations, as sentences. */
export async function faultsIn(cluster: ProcessCluster, expected: Expected): Promise<readonly string[]> {
  const { ends, status, objects, copies, holder } = expected
  const wanted = ends[status]
  if (wanted === undefined) return [`it has ended as ${status}`]
  const faults: string[] = []
  const names = wanted.split(', ').map((member) => member.split(' ')[0] ?? '')
  const living = names.filter((name) => cluster.isRunning(name))
  for (const at of living) {
    let seen: SeenMembership | null = null
    await until(`${at} knows the end`, async () => {
      // One that starts again does not listen yet.
      seen = (await ownView(cluster, at).catch(() => null)) ?? seen
      return seen !== null && placed(seen) === wanted && seen.changeInProgress === null
    }).catch(() => faults.push(`${at} sees ${seen === null ? 'nothing' : placed(seen)}, not ${wanted}`))
    if (seen !== null) faults.push(...between(at, seen))
  }
  faults.push(...(await peerFaults(cluster, wanted)))
  for (const at of living.filter((name) => wanted.includes(`${name} active`)))
    faults.push(...(await unread(cluster, at, objects)))
  if (copies !== null) faults.push(...(await miscounted(cluster, living[0] ?? '', copies)))
  if (holder !== null && !(await holdsCopies(cluster, living[0] ?? '', holder)))
    faults.push(`${holder} holds no copy`)
  faults.push(...(await openEnds(cluster, living[0] ?? '')))
  return faults
}

async function ownView(cluster: ProcessCluster, at: string): Promise<SeenMembership> {
  const path = '/cluster/membership?consistency=local'
  const { body } = await cluster.admin(at, { method: 'GET', path })
  return JSON.parse(body.toString()) as SeenMembership
}

function between(at: string, { members, quorum }: SeenMembership): readonly string[] {
  const wrong = members.filter(({ phase, role }) => ROLES[phase] !== role)
  const voters = members.filter(({ role }) => role === 'voter').length
  const faults = wrong.map(({ nodeId, phase, role }) => `${at}: ${nodeId} is ${phase}, and ${role}`)
  if (quorum !== Math.floor(voters / 2) + 1) faults.push(`${at}: ${quorum} decide of ${voters} voters`)
  return faults
}

/** The peers of the leader are the members of the rows. */
async function peerFaults(cluster: ProcessCluster, wanted: string): Promise<readonly string[]> {
  const members = wanted.split(', ').filter((member) => !member.endsWith('none'))
  const names = members.map((member) => member.split(' ')[0] ?? '')
  let wrong: string[] = []
  const isRight = async (): Promise<boolean> => {
    const leader = (await cluster.leader()) ?? ''
    wrong = []
    for (const { nodeId } of [...cluster.plan, ...cluster.spares]) {
      const name = `holdfast_raft_peer_match_index{peer="${nodeId}"}`
      const isPeer = (await cluster.metric(leader, name)) !== undefined
      if (nodeId !== leader && isPeer !== names.includes(nodeId)) wrong.push(nodeId)
    }
    return wrong.length === 0
  }
  return until('the leader has the peers of the rows', () => isRight().catch(() => false)).then(
    () => [],
    () => [`the leader has ${wrong.join(', ')} among its peers, or not, against the rows`],
  )
}

async function unread(
  cluster: ProcessCluster,
  at: string,
  objects: ReadonlyMap<string, string>,
): Promise<readonly string[]> {
  await until(`${at} serves`, () => cluster.ready(at))
  const faults: string[] = []
  for (const [name, digest] of objects) {
    const { status, body } = await cluster.call(at, 'GET', `/buckets/kept/objects/${name}`)
    if (status !== 200 || sha256(body) !== digest) faults.push(`${at}: ${name} is ${status}`)
  }
  return faults
}

/** Of everything, by the rows. */
async function miscounted(cluster: ProcessCluster, at: string, copies: number): Promise<readonly string[]> {
  const path = `/tenants/${cluster.setup.tenantId}/usage`
  let usage = 'nothing'
  const isRight = async (): Promise<boolean> => {
    usage = (await cluster.admin(at, { method: 'GET', path })).body.toString()
    const { physicalBytes, storedBytes } = JSON.parse(usage) as { physicalBytes: number; storedBytes: number }
    return physicalBytes === copies * storedBytes
  }
  return until(`there are ${copies} copies`, () => isRight().catch(() => false)).then(
    () => [],
    () => [`there are not ${copies} copies of everything: ${usage}`],
  )
}

async function holdsCopies(cluster: ProcessCluster, at: string, nodeId: string): Promise<boolean> {
  const { members } = await membershipAt(cluster, at)
  return members.some((member) => member.nodeId === nodeId && (member.blobs?.replicas ?? 0) > 0)
}

/** Nothing is left open, and the next change is not kept waiting. */
async function openEnds(cluster: ProcessCluster, at: string): Promise<readonly string[]> {
  const { body } = await cluster.admin(at, { method: 'GET', path: '/cluster/operations' })
  const { operations } = JSON.parse(body.toString()) as {
    operations: readonly { operationId: string; type: string; status: string }[]
  }
  const open = operations.filter(({ status }) => ['queued', 'running', 'paused'].includes(status))
  const faults = open
    .filter(({ type }) => type !== 'recovery')
    .map(({ operationId, type }) => `${type} ${operationId} is unfinished`)
  const next = {
    method: 'POST',
    path: `/cluster/voters/${at}/demote?dryRun=true`,
    body: { reason: 'tests' },
  } as const
  const dry = await cluster.admin(at, next)
  if (dry.body.toString().includes('membership_change_in_progress'))
    faults.push('the next change is kept waiting')
  return faults
}
