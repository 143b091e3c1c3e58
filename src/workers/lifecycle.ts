/**
 * Carries out the lifecycle rules of all buckets. [docs/adr/0085-lifecycle-rules.md]
 *
 * Owns: which bucket is walked now, where in it, and the size of an entry. Knows nothing of: what a rule acts on; the planner says that, and apply
 * decides it. Rules: one page of one bucket a round, buckets at the head of the queue in rotation; a walk judges by the confirmed time at which
 * it began; a place is in memory only, so another node walks that bucket from its beginning, where less is left.
 */
import { randomUUID } from 'node:crypto'
import { counter, gauge, type Cluster, type Logger, type MetricSample } from '../../cluster/index.ts'
import type { Propose } from '../commands/propose.ts'
import type { Origin } from '../state-machine/base/origin.ts'
import { bucketKeys } from '../state-machine/buckets/keys.ts'
import type { BucketRecord } from '../state-machine/buckets/records.ts'
import type { LifecycleItem, LifecycleKind } from '../state-machine/lifecycle/commands.ts'
import { lifecycleKeys, lifecycleRanges } from '../state-machine/lifecycle/keys.ts'
import type { LifecyclePlanned } from '../state-machine/lifecycle/plan.ts'
import type { LifecycleRecord, LifecycleTurnRecord } from '../state-machine/lifecycle/records.ts'
import { lifecycleOf } from '../state-machine/lifecycle/rules.ts'
import { activeTenant } from '../state-machine/tenants/tenants.ts'
import { lifecyclePage, type LifecyclePlace } from '../store/reads/lifecycle-walk.ts'
import type { StateReader } from '../store/reads/state-reader.ts'

/** Rows that one round reads. */
const PAGE_ROWS = 128
/** Items of one entry: to apply them holds the event loop as long as a large request does. */
const ITEMS_PER_ENTRY = 32
/** Buckets that are walked in rotation, so that a large one does not hold up the others. */
const BUCKETS_AT_ONCE = 8

export interface LifecycleParts {
  readonly cluster: Pick<Cluster, 'isJobRunner' | 'nodeId'>
  readonly state: StateReader
  readonly propose: Propose
  /** The confirmed time of the log, as far as it is applied here. ms since 1970 */
  readonly confirmedTime: () => number
  readonly logger: Logger
}

interface Walk {
  readonly turn: LifecycleTurnRecord
  readonly revision: number
  readonly judgedAt: number
  readonly place: LifecyclePlace | null
  /** Noncurrent versions went: a delete marker above them may be alone now. */
  readonly isChanged: boolean
}

export class Lifecycle {
  readonly #parts: LifecycleParts
  #walks: readonly Walk[] = []
  readonly #done: Record<LifecycleKind, number> = {
    expired: 0,
    hidden: 0,
    noncurrent: 0,
    marker: 0,
    upload: 0,
  }
  #bytes = 0
  #walked = 0
  #walkedAt = 0

  constructor(parts: LifecycleParts) {
    this.#parts = parts
  }

  /** One page of one bucket; resolves with true when there is more to do at once. Throws Condition. */
  async round(): Promise<boolean> {
    if (!this.#parts.cluster.isJobRunner()) {
      this.#walks = []
      return false
    }
    await this.#fill()
    const [walk, ...others] = this.#walks
    if (walk === undefined) return false
    // A walk that fails on the way is dropped, and begins again with its turn.
    this.#walks = others
    const next = await this.#advance(walk)
    if (next === 'later') return this.#walks.length > 0
    if (next !== 'done') this.#walks = [...this.#walks, next]
    return true
  }

  metrics(): readonly MetricSample[] {
    return [
      ...Object.entries(this.#done).map(([kind, count]) =>
        counter(
          'holdfast_lifecycle_actions_total',
          'What lifecycle rules did by this node: expired and noncurrent versions, delete markers that were made (hidden) and removed (marker), uploads that were aborted.',
          count,
          { kind },
        ),
      ),
      counter(
        'holdfast_lifecycle_bytes_total',
        'Bytes of versions and parts that lifecycle rules removed by this node.',
        this.#bytes,
      ),
      counter(
        'holdfast_lifecycle_walks_total',
        'Buckets that this node has walked through for their lifecycle rules.',
        this.#walked,
      ),
      gauge(
        'holdfast_lifecycle_walked_at_seconds',
        'Cluster time by which the last bucket was judged that this node has walked through. 0: none yet.',
        this.#walkedAt / 1000,
      ),
    ]
  }

  async #fill(): Promise<void> {
    const { state, confirmedTime } = this.#parts
    if (this.#walks.length >= BUCKETS_AT_ONCE) return
    const time = confirmedTime()
    const { items } = await state.page(lifecycleRanges.turns(time), { limit: BUCKETS_AT_ONCE })
    const known = new Set(this.#walks.map(({ turn }) => turn.bucketId))
    const added = items.flatMap((turn): readonly Walk[] => {
      const found = known.has(turn.bucketId) ? null : rulesOf(state, turn)
      if (found === null) return []
      const { revision } = found.record
      return [{ turn, revision, judgedAt: time, place: null, isChanged: false }]
    })
    this.#walks = [...this.#walks, ...added].slice(0, BUCKETS_AT_ONCE)
  }

  /** `later`: something was refused, so that it must not be tried again at once. */
  async #advance(walk: Walk): Promise<Walk | 'done' | 'later'> {
    const { state } = this.#parts
    const { turn, judgedAt: time, revision } = walk
    const found = rulesOf(state, turn)
    // The bucket is gone, or its rules were set since and have a turn of their own.
    if (found === null || found.record.revision !== revision) return 'done'
    // What a disabled tenant stores stays; its bucket has its next turn.
    if (!activeTenant(state, turn.tenantId).ok) return this.#end(walk)
    const { bucket, record } = found
    const page = await lifecyclePage(state, { bucket, rules: record.rules, time }, walk.place, PAGE_ROWS)
    const acted = await this.#act(bucket, page.planned)
    if (acted === null) return 'later'
    const isChanged = walk.isChanged || acted.has('noncurrent')
    if (page.next !== null) return { ...walk, place: page.next, isChanged }
    if (isChanged && removesMarkers(record)) return { ...walk, place: null, isChanged: false }
    return this.#end(walk)
  }

  /** The kinds of what was done; null: an entry was refused. */
  async #act(
    bucket: BucketRecord,
    planned: readonly LifecyclePlanned[],
  ): Promise<ReadonlySet<LifecycleKind> | null> {
    const { propose, logger, cluster } = this.#parts
    const { tenantId, name, id: bucketId } = bucket
    const kinds = new Set<LifecycleKind>()
    for (const { ruleId, items } of entriesOf(planned)) {
      const command = { type: 'applyLifecycleRule', tenantId, bucket: name, bucketId, ruleId, items } as const
      const reply = await propose(command, originOf(cluster.nodeId, bucket))
      if (!reply.ok) {
        logger.warn({ bucket: name, rule: ruleId, reason: reply.message }, 'lifecycle rule not carried out')
        return null
      }
      for (const { kind, bytes } of reply.value.done) {
        kinds.add(kind)
        this.#done[kind]++
        this.#bytes += bytes
      }
      logger.debug(
        { bucket: name, rule: ruleId, done: reply.value.done.length },
        'lifecycle rule carried out',
      )
    }
    return kinds
  }

  async #end({ turn, revision, judgedAt }: Walk): Promise<'done' | 'later'> {
    const { tenantId, bucket, bucketId, turnAt } = turn
    const name = { tenantId, bucket, bucketId } as const
    const reply = await this.#parts.propose({ type: 'endLifecycleWalk', ...name, turnAt, revision, judgedAt })
    if (!reply.ok) return 'later'
    this.#walked++
    this.#walkedAt = judgedAt
    const walk = this.#parts.state.get(lifecycleKeys.lifecycleWalk(bucketId))
    // The log is behind this clock: at once the turn would be due again.
    return walk !== undefined && walk.turnAt <= judgedAt ? 'later' : 'done'
  }
}

/** Null: the bucket or its rules are gone. */
function rulesOf(
  state: StateReader,
  { tenantId, bucket: name, bucketId }: LifecycleTurnRecord,
): { readonly bucket: BucketRecord; readonly record: LifecycleRecord } | null {
  return state.cut((view) => {
    const bucket = view.get(bucketKeys.bucket(tenantId, name))
    const record = bucket?.id === bucketId ? lifecycleOf(view, bucket) : undefined
    return bucket === undefined || record === undefined ? null : { bucket, record }
  })
}

const removesMarkers = ({ rules }: LifecycleRecord): boolean =>
  rules.some(({ isEnabled, expiration }) => isEnabled && expiration !== null && !('date' in expiration))

interface Entry {
  readonly ruleId: string
  readonly items: LifecycleItem[]
}

/** What is not locked, for each rule by itself and so many at most. */
function entriesOf(planned: readonly LifecyclePlanned[]): readonly Entry[] {
  const entries: Entry[] = []
  const open = new Map<string, Entry>()
  for (const { ruleId, item, lock } of planned) {
    if (lock !== null) continue
    let entry = open.get(ruleId)
    if (entry === undefined || entry.items.length === ITEMS_PER_ENTRY) {
      entry = { ruleId, items: [] }
      open.set(ruleId, entry)
      entries.push(entry)
    }
    entry.items.push(item)
  }
  return entries
}

function originOf(nodeId: string, { tenantId, name }: BucketRecord): Origin {
  return {
    requestId: randomUUID(),
    api: 'internal',
    operation: 'applyLifecycleRule',
    method: 'WORK',
    path: `/buckets/${name}/lifecycle`,
    actor: { type: 'system', id: null, role: null },
    tenantId,
    bucket: name,
    key: null,
    versionId: null,
    reason: null,
    sourceIp: null,
    userAgent: null,
    bytesIn: 0,
    elapsedMs: 0,
    successStatus: 200,
    nodeId,
  }
}
