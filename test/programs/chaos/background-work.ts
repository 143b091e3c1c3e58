/**
 * What a cluster does beside its clients while faults come: lifecycle rules, replication to a second site, backups, and exchanges of the tenant's data
 * key, one after the other.
 *
 * Owns: that work, and what must hold of it at the end. Knows nothing of: the injected faults.
 * Rules: a backup and an exchange exclude each other, so they take turns; a request that the cluster refuses for now is made again later; at least one
 * of each ends after the last fault.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { AdminClient } from '../../../src/client/clients.ts'
import type { ProcessCluster } from '../../helpers/process-cluster.ts'
import type { Random } from '../simulator/random.ts'
import { askUntilAnswered, type LedgerClient, type LedgerRequest, SilenceError } from './ledger-client.ts'
import type { Claim } from './final-checks.ts'
import { PORTS, SITE_ADDRESS } from './host-plan.ts'
import { adminOf } from './owed-copies.ts'

const MIRRORED = 'mirrored'
const RULED = 'ruled'
const MIRRORED_KEYS = 16
const OBJECTS_MAX = 3_000
const REST_MS = 150
const POLL_MS = 200
/** Between the end of one backup or exchange and the next. */
const TURN_MS = 3_000
/** Until the work that is there when the last fault has ended is done. */
const END_MS_MAX = 5 * 60_000
const TARGET = 'directory:chaos'
const RULE = { id: 'due', status: 'Enabled', filter: { prefix: 'due/' }, expiration: { date: '2026-01-01' } }

export interface BackgroundParts {
  readonly cluster: ProcessCluster
  readonly site: ProcessCluster
  readonly client: LedgerClient
  readonly random: Random
  readonly say: (line: string) => void
}

type Kind = 'backup' | 'exchange'

interface Held {
  readonly key: string
  readonly versionId: string
}

export class BackgroundWork {
  readonly #parts: BackgroundParts
  readonly #mishaps: string[] = []
  readonly #due: string[] = []
  readonly #held: Held[] = []
  readonly #kept: string[] = []
  #mirrored = 0
  #ended = { backup: 0, exchange: 0 }
  #lastBackup: string | null = null
  #isStopping = false
  #running: readonly Promise<void>[] = []

  constructor(parts: BackgroundParts) {
    this.#parts = parts
  }

  async start(): Promise<void> {
    const { site } = this.#parts
    await site.login('site')
    const made = { name: MIRRORED, versioning: 'Enabled' }
    const atSite = await site.call('site', 'POST', '/buckets', JSON.stringify(made))
    if (atSite.status !== 201) throw new Error(`The second site made no bucket: ${atSite.body.toString()}`)
    const { accessKeyId, secretKey } = site.setup
    await this.#must({ operation: 'createBucket', params: {}, body: made })
    await this.#must({
      operation: 'setBucketReplication',
      params: { bucket: MIRRORED },
      body: {
        target: {
          endpoint: `http://${SITE_ADDRESS}:${PORTS.data}`,
          bucket: MIRRORED,
          accessKeyId: accessKeyId ?? '',
          secretKey: secretKey ?? '',
        },
      },
    })
    await this.#must({
      operation: 'createBucket',
      params: {},
      body: { name: RULED, objectLockEnabled: true },
    })
    await this.#setRule()
    this.#running = [this.#mirror(), this.#fill(), this.#takeTurns()]
  }

  /** Resolves when requests are answered, and one backup and one exchange have ended behind the last fault. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.#running)
    for (const kind of ['exchange', 'backup'] as const)
      if (!(await this.#run(kind, END_MS_MAX))) this.#mishaps.push(`no ${kind} after the last fault`)
    this.#parts.say(`${this.#ended.backup} backups, ${this.#ended.exchange} exchanges of the data key`)
  }

  claims(): readonly Claim[] {
    const { backup, exchange } = this.#ended
    return [
      ['background work continues, and is answered as documented', async () => this.#mishaps],
      [`the second site has all of ${this.#mirrored} changes`, () => this.#siteFaults()],
      [
        `a rule removed ${this.#due.length} objects, nothing else and nothing of ${this.#held.length} that are held`,
        () => this.#ruleFaults(),
      ],
      [`the last of ${backup} backups is whole`, () => this.#backupFaults()],
      [`nothing is left under a former key after ${exchange} exchanges`, () => this.#keyFaults()],
    ]
  }

  // ---------------------------------------------------------------------------------------------

  async #mirror(): Promise<void> {
    const { random } = this.#parts
    for (let n = 0; !this.#isStopping && n < OBJECTS_MAX; n++) {
      const params = { bucket: MIRRORED, key: `k${random.below(MIRRORED_KEYS)}` }
      const choice = random.below(10)
      if (choice < 7) await this.#answered({ operation: 'putObject', params, body: this.#bytes(n) })
      else if (choice < 9) await this.#answered({ operation: 'deleteObject', params })
      else await this.#answered({ operation: 'setObjectTags', params, body: { tags: { n: `${n}` } } }, [404])
      this.#mirrored += 1
      await wait(REST_MS)
    }
  }

  async #fill(): Promise<void> {
    for (let n = 0; !this.#isStopping && n < OBJECTS_MAX; n++) {
      const isDue = n % 3 !== 0
      const isHeld = n % 6 === 1
      const key = `${isDue ? 'due' : 'kept'}/${n}`
      const headers = isHeld ? { 'x-service-legal-hold': 'ON' } : {}
      const params = { bucket: RULED, key }
      const answer = await this.#answered({ operation: 'putObject', params, headers, body: this.#bytes(n) })
      if (answer !== null) {
        if (isHeld) this.#held.push({ key, versionId: String(answer['versionId']) })
        else if (isDue) this.#due.push(key)
        else this.#kept.push(key)
      }
      await wait(REST_MS)
    }
  }

  async #takeTurns(): Promise<void> {
    for (let n = 0; !this.#isStopping; n++) {
      await this.#run(n % 2 === 0 ? 'backup' : 'exchange', null)
      await wait(TURN_MS)
    }
  }

  /** Starts one and waits for its end: without a limit as long as no stop is asked for. True when it has succeeded. */
  async #run(kind: Kind, limitMs: number | null): Promise<boolean> {
    const giveUpAt = performance.now() + (limitMs ?? END_MS_MAX)
    let operationId: string | null = null
    while (performance.now() < giveUpAt && (limitMs !== null || !this.#isStopping || operationId !== null)) {
      await wait(POLL_MS)
      operationId ??= await this.#begin(kind)
      if (operationId === null) continue
      const seen = await this.#seen(operationId)
      if (seen === null || seen.finishedAt === null) continue
      if (seen.status !== 'succeeded') {
        this.#mishaps.push(`${kind} ${operationId} has ${seen.status}: ${seen.error ?? 'no reason'}`)
        return false
      }
      this.#ended = { ...this.#ended, [kind]: this.#ended[kind] + 1 }
      if (kind === 'backup') this.#lastBackup = seen.backupId ?? null
      return true
    }
    return false
  }

  /** Null: not now. */
  async #begin(kind: Kind): Promise<string | null> {
    const { tenantId } = this.#parts.cluster.setup
    const reason = 'chaos'
    const { answer } = await this.#admin(async (admin) =>
      kind === 'backup'
        ? admin.call('createBackup', { body: { target: TARGET, reason } })
        : admin.call('exchangeDataKey', { params: { id: tenantId }, body: { reason } }),
    )
    return answer !== undefined && 'operationId' in answer ? answer.operationId : null
  }

  /** Null: it is not known now. */
  async #seen(operationId: string) {
    const { answer = null } = await this.#admin((admin) =>
      admin.call('getOperation', { params: { id: operationId } }),
    )
    return answer
  }

  /** A client of the present members, for one request. What is refused, or not answered, is asked again later. */
  async #admin<A>(ask: (admin: AdminClient) => Promise<A>): Promise<A | { readonly answer: undefined }> {
    const admin = adminOf(this.#parts.cluster)
    try {
      return await ask(admin)
    } catch {
      return { answer: undefined }
    } finally {
      await admin.close()
    }
  }

  async #siteFaults(): Promise<readonly string[]> {
    const params = { bucket: MIRRORED }
    let status: Record<string, unknown> = {}
    const isSettled = await this.#within(async () => {
      status = await this.#must({ operation: 'getReplicationStatus', params })
      return status['pending'] === 0
    })
    if (!isSettled) return [`changes still wait: ${JSON.stringify(status)}`]
    const { differences } = await this.#must({ operation: 'compareBucketReplication', params, body: {} })
    const lost = ['failed', 'dropped'].filter((name) => status[name] !== 0)
    return [
      ...lost.map((name) => `${String(status[name])} changes are ${name}: ${JSON.stringify(status)}`),
      ...(differences as readonly object[]).map((one) => JSON.stringify(one)),
    ]
  }

  async #ruleFaults(): Promise<readonly string[]> {
    // A new setting begins a walk over the whole bucket.
    await this.#setRule()
    const isOver = await this.#within(async () => (await this.#listed('due/')).length === 0)
    const faults = isOver ? [] : [`still there: ${(await this.#listed('due/')).join(', ')}`]
    const kept = new Set(await this.#listed('kept/'))
    for (const key of this.#kept) if (!kept.has(key)) faults.push(`${key} is gone, and no rule names it`)
    for (const { key, versionId } of this.#held) {
      const { status } = await this.#ask({
        operation: 'headObject',
        params: { bucket: RULED, key },
        query: { versionId },
      })
      if (status !== 200) faults.push(`the held version of ${key} is answered with ${status}`)
    }
    return faults
  }

  async #backupFaults(): Promise<readonly string[]> {
    const backupId = this.#lastBackup
    if (backupId === null) return ['there is none']
    const asked = { params: { backupId }, body: { target: TARGET, reason: 'chaos' } }
    const { answer } = await this.#admin((admin) => admin.call('verifyClusterBackup', asked))
    if (answer === undefined || !('operationId' in answer)) return ['its verification was not started']
    let fault: string | null = 'its verification does not end'
    await this.#within(async () => {
      const seen = await this.#seen(answer.operationId)
      if (seen === null || seen.finishedAt === null) return false
      fault = seen.status === 'succeeded' ? null : `its verification has ${seen.status}: ${seen.error ?? ''}`
      return true
    })
    return fault === null ? [] : [fault]
  }

  async #keyFaults(): Promise<readonly string[]> {
    const id = this.#parts.cluster.setup.tenantId
    const { answer } = await this.#admin((admin) => admin.call('getTenantEncryption', { params: { id } }))
    if (answer === undefined) return ['it is not answered']
    return answer.exchange === null ? [] : [JSON.stringify(answer.exchange)]
  }

  /** All keys, page after page. */
  async #listed(prefix: string): Promise<readonly string[]> {
    const keys: string[] = []
    let from: Record<string, string> = {}
    for (;;) {
      const page = await this.#must({
        operation: 'listObjects',
        params: { bucket: RULED },
        query: { prefix, ...from },
      })
      keys.push(...(page['objects'] as readonly { readonly key: string }[]).map(({ key }) => key))
      const { nextContinuationToken: next } = page
      if (typeof next !== 'string') return keys
      from = { continuationToken: next }
    }
  }

  async #setRule(): Promise<void> {
    await this.#must({ operation: 'setBucketLifecycle', params: { bucket: RULED }, body: { rules: [RULE] } })
  }

  async #within(isSo: () => Promise<boolean>): Promise<boolean> {
    const giveUpAt = performance.now() + END_MS_MAX
    while (performance.now() < giveUpAt) {
      if (await isSo()) return true
      await wait(POLL_MS)
    }
    return false
  }

  #bytes(n: number): Buffer {
    // Small ones lie in rows, larger ones in chunks.
    return Buffer.from(`${n} `.repeat(n % 5 === 0 ? 30_000 : 20))
  }

  #ask(request: LedgerRequest) {
    return askUntilAnswered(this.#parts.client, request)
  }

  /** Null: the request was refused, which is a fault unless the status is `expected`. */
  async #answered(
    request: LedgerRequest,
    expected: readonly number[] = [],
  ): Promise<Record<string, unknown> | null> {
    const answer = await this.#ask(request).catch((error: unknown) => {
      if (!(error instanceof SilenceError)) throw error
      this.#mishaps.push(error.message)
      return null
    })
    if (answer === null) return null
    const { status, body } = answer
    const text = body.toString()
    if (status < 300) return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
    if (!expected.includes(status)) this.#mishaps.push(`${request.operation}: ${status} ${text}`)
    return null
  }

  async #must(request: LedgerRequest): Promise<Record<string, unknown>> {
    const { status, body } = await this.#ask(request)
    const text = body.toString()
    if (status >= 300) throw new Error(`${request.operation}: ${status} ${text}`)
    return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
  }
}
