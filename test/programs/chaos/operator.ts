/**
 * An operator who changes the members of a cluster: one change after the other, each awaited.
 *
 * Owns: new hosts for joining nodes, retries of retryable refusals, time limits. Knows nothing of: why a member joins or leaves.
 * Rules: the cluster under test learns who has joined or left when the operation has ended, and not earlier. A joining node whose process ends,
 * as on a full disk, is started again: no other component restarts it yet.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { type AdminClient, adminClient, ApiError, NoAnswerError } from '../../../src/client/clients.ts'
import type { NodePlan } from '../../../src/cli/up/setup.ts'
import type { ProcessCluster } from '../../helpers/process-cluster.ts'
import type { Hosts } from './hosts-site.ts'

const POLL_MS = 100
/** Not now: another operation is in progress, or it is unknown whether this one was started. */
const LATER = ['membership_change_in_progress', 'member_exists']

interface Newcomer {
  readonly nodeId: string
  readonly peerAddress: string
}

type StartedOperation = { readonly operationId: string } | { readonly noop: boolean }
type Change = (admin: AdminClient) => Promise<{ readonly answer: StartedOperation }>

export class Operator {
  readonly #cluster: ProcessCluster
  readonly #hosts: Hosts
  /** Newcomers that wait, or are being started. */
  readonly #prepared: Promise<Newcomer>[] = []
  /** Hosts are made one after the other. */
  #made: Promise<unknown> = Promise.resolve()

  /** For one change, from the first question to its end. */
  readonly #changeMsMax: number

  constructor(cluster: ProcessCluster, hosts: Hosts, changeMsMax: number) {
    this.#cluster = cluster
    this.#hosts = hosts
    this.#changeMsMax = changeMsMax
  }

  /** Starts nodes on new hosts, which wait for joins and replacements to come. */
  prepare(count: number): void {
    for (let n = 0; n < count; n += 1) {
      const newcomer = this.#made.then(() => this.#startNewcomer())
      this.#made = newcomer.catch(() => undefined)
      this.#prepared.push(newcomer)
    }
  }

  /** A node on a new host. Resolves with its name when it has a vote and serves. */
  async join(reason: string): Promise<string> {
    const newcomer = await this.#newcomer()
    await this.#carryOut(`join ${newcomer.nodeId}`, (admin) =>
      admin.call('joinVoter', { body: { ...newcomer, reason } }),
    )
    await this.#welcome(newcomer.nodeId)
    return newcomer.nodeId
  }

  /** A node on a new host in the place of a member, which may be dead. */
  async replace(nodeId: string, reason: string): Promise<string> {
    const replacement = await this.#newcomer()
    const body = { replacement, reason, confirm: nodeId }
    await this.#carryOut(`replace ${nodeId} by ${replacement.nodeId}`, (admin) =>
      admin.call('replaceVoter', { params: { nodeId }, body }),
    )
    await this.#welcome(replacement.nodeId)
    this.#cluster.hasLeft(nodeId)
    return replacement.nodeId
  }

  async demote(nodeId: string, reason: string): Promise<void> {
    await this.#carryOut(`demote ${nodeId}`, (admin) =>
      admin.call('demoteVoter', { params: { nodeId }, body: { reason } }),
    )
  }

  async remove(nodeId: string, reason: string): Promise<void> {
    const body = { reason, confirm: nodeId }
    await this.#carryOut(`remove ${nodeId}`, (admin) =>
      admin.call('removeMember', { params: { nodeId }, body }),
    )
    this.#cluster.hasLeft(nodeId)
  }

  /** Waits until it has been silent long enough to be declared lost. */
  async callLost(nodeId: string, reason: string): Promise<void> {
    const body = { reason, confirm: nodeId }
    await this.#carryOut(`call ${nodeId} lost`, (admin) =>
      admin.call('markVoterLost', { params: { nodeId }, body }),
    )
  }

  async transfer(nodeId: string, reason: string): Promise<void> {
    await this.#patiently(`hand over to ${nodeId}`, async (admin) => {
      await admin.call('transferLeadership', { body: { nodeId, reason } })
      return (await admin.call('getClusterMembership')).answer.leaderId === nodeId
    })
  }

  /** Copies go to where they should be: chunks from a time with fewer members get their missing copies. */
  async rebalance(reason: string): Promise<void> {
    const { tenantId } = this.#cluster.setup
    await this.#carryOut('rebalance', (admin) => admin.call('rebalance', { body: { tenantId, reason } }))
  }

  async #newcomer(): Promise<Newcomer> {
    if (this.#prepared.length === 0) this.prepare(1)
    const newcomer = await this.#prepared.shift()
    if (newcomer === undefined) throw new Error('A newcomer was prepared a moment ago')
    return newcomer
  }

  async #startNewcomer(): Promise<Newcomer> {
    const node = await this.#hosts.add()
    const { nodeId, peerAddress } = node
    this.#cluster.addSpare(node)
    this.#cluster.startJoining(nodeId)
    return { nodeId, peerAddress }
  }

  async #welcome(nodeId: string): Promise<void> {
    await this.#patiently(`${nodeId} serves`, () => this.#cluster.ready(nodeId))
    this.#cluster.hasJoined(nodeId)
  }

  /** A change without effect counts as done, when no operation is running. */
  async #carryOut(what: string, change: Change): Promise<void> {
    let started: StartedOperation | null = null
    await this.#patiently(what, async (admin) => {
      started ??= (await change(admin)).answer
      if (!('operationId' in started)) return isIdle(admin)
      const { answer } = await admin.call('getOperation', { params: { id: started.operationId } })
      const { status, error } = answer
      if (status === 'failed' || status === 'cancelled')
        throw new Error(`Cannot ${what}: the operation ${status}: ${error}`)
      return status === 'succeeded'
    })
  }

  /** The subject of the change is contacted last: it may be dead, or removed before it answers. */
  #endpoints(what: string): readonly string[] {
    const isNamed = ({ nodeId }: NodePlan): boolean => what.split(' ').includes(nodeId)
    const { plan } = this.#cluster
    return [...plan.filter((node) => !isNamed(node)), ...plan.filter(isNamed)].map(({ adminUrl }) => adminUrl)
  }

  #superviseNewcomers(): void {
    const ended = this.#cluster.spares.filter(({ nodeId }) => !this.#cluster.isRunning(nodeId))
    for (const { nodeId, logFile } of ended)
      this.#cluster.startNode(nodeId, isMemberAlready(logFile) ? [] : ['--join'])
  }

  /** Until it is true. Asks again while the answer is that it cannot be done now. */
  async #patiently(what: string, isDone: (admin: AdminClient) => Promise<boolean>): Promise<void> {
    const giveUpAt = performance.now() + this.#changeMsMax
    let why = 'it is not done'
    while (performance.now() < giveUpAt) {
      this.#superviseNewcomers()
      const admin = adminClient({ endpoints: this.#endpoints(what), token: this.#cluster.setup.ownerToken })
      try {
        if (await isDone(admin)) return
      } catch (error) {
        if (!isPassing(error)) throw error
        why = String(error)
      } finally {
        await admin.close()
      }
      await wait(POLL_MS)
    }
    throw new Error(`Cannot ${what} within ${this.#changeMsMax / 1000} s: ${why}`)
  }
}

/** What the start with --join says, and to do without it. */
function isMemberAlready(logFile: string): boolean {
  return readFileSync(logFile, 'utf8').includes('belongs to a member already')
}

/** A blocker may go away. */
function isPassing(error: unknown): boolean {
  if (error instanceof NoAnswerError) return true
  if (!(error instanceof ApiError)) return false
  return error.status >= 500 || error.status === 412 || LATER.includes(error.code)
}

async function isIdle(admin: AdminClient): Promise<boolean> {
  const { answer } = await admin.call('listOperations')
  return answer.operations.every(({ finishedAt }) => finishedAt !== null)
}
