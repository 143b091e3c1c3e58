/** Membership requests of tests with real nodes, over the admin API. */
import { until } from './async.ts'
import type { ProcessCluster } from './process-cluster.ts'

export interface SeenMembership {
  readonly configIndex: number
  readonly changeInProgress: string | null
  readonly failureTolerance: number
  readonly quorum: number
  readonly leaderId: string
  readonly members: readonly {
    readonly nodeId: string
    readonly phase: string
    readonly role: string
    readonly zone: string
    readonly weight: number
    readonly blobs: { readonly replicas: number } | null
    readonly conditions?: readonly { readonly code: string; readonly message: string }[]
  }[]
  readonly departed: readonly { readonly nodeId: string; readonly how: string }[]
  readonly recoveries: readonly object[]
}

/** The test polls more often than people do. */
export const MANY_ADMIN_REQUESTS = 'limits: { admin_requests_per_minute: 10000, admin_requests_burst: 10000 }'
/** The test does not check for long how a joining node keeps up: test/workers/membership.test.ts does, on a virtual clock. */
export const QUICK_MEMBERS = `${MANY_ADMIN_REQUESTS}\ncluster: { promote_after: 1s }`

export async function membershipAt(cluster: ProcessCluster, at: string): Promise<SeenMembership> {
  const { status, body } = await cluster.admin(at, { method: 'GET', path: '/cluster/membership' })
  if (status !== 200) throw new Error(`${status} ${body.toString()}`)
  return JSON.parse(body.toString()) as SeenMembership
}

export const placed = ({ members }: SeenMembership): string =>
  members.map(({ nodeId, phase, role }) => `${nodeId} ${phase} ${role}`).join(', ')

export interface Requested {
  readonly path: string
  readonly body: object
}

/** Resolves when a dry run is accepted. */
export async function untilAllowed(
  cluster: ProcessCluster,
  at: string,
  { path, body }: Requested,
): Promise<void> {
  await until(`${path} is allowed`, async () => {
    const dry = await cluster.admin(at, { method: 'POST', path: `${path}?dryRun=true`, body })
    return dry.status === 200 && (JSON.parse(dry.body.toString()) as { allowed: boolean }).allowed
  })
}

/** Sends the request, and waits until the operation has succeeded. */
export async function changeMembers(
  cluster: ProcessCluster,
  at: string,
  { path, body }: Requested,
): Promise<void> {
  const started = await cluster.admin(at, { method: 'POST', path: `${path}?wait=60s`, body })
  const text = started.body.toString()
  if (started.status >= 300) throw new Error(`${path}: ${started.status} ${text}`)
  const { operationId } = JSON.parse(text) as { operationId: string }
  let seen = text
  await until(`${path} has ended`, async () => {
    const asked = { method: 'GET', path: `/cluster/operations/${operationId}` } as const
    const answer = await cluster.admin(at, asked)
    if (answer.status !== 200) return false
    seen = answer.body.toString()
    const operation = JSON.parse(seen) as { status: string }
    if (operation.status === 'failed' || operation.status === 'cancelled') throw new Error(seen)
    return operation.status === 'succeeded'
  }).catch((cause: unknown) => {
    throw new Error(`${path} is at ${seen}`, { cause })
  })
}
