/**
 * previewBucketLifecycle: authorize -> exists -> the rules are good, or there are some -> walk a bounded number of rows.
 *
 * Rules: it changes nothing; it judges by the confirmed time, as the walk does; an answer counts only the rows that it has read, and a token
 * continues behind them, for the same rules of the same bucket.
 */
import { createHash } from 'node:crypto'
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { requireLevel } from '../../commands/level-gate.ts'
import { COMMAND_LEVELS } from '../../state-machine/command-levels.ts'
import type { LifecycleKind } from '../../state-machine/lifecycle/commands.ts'
import type { LifecyclePlanned, WalkedKind } from '../../state-machine/lifecycle/plan.ts'
import { lifecyclePage, type LifecyclePlace } from '../../store/reads/lifecycle-walk.ts'
import { openContinuationToken, sealContinuationToken } from '../base/continuation-token.ts'
import { dataOperation } from '../base/operation.ts'
import { bucketTarget } from '../base/targets.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import { storedRules } from './get-bucket-lifecycle.ts'
import { checkLifecycleRules, type LifecycleRuleInput } from './lifecycle-rules.ts'

/** Rows that one answer reads, and rows that are read together. */
export const PREVIEW_ROWS_MAX = 5_000
const PAGE_ROWS = 500
export const PREVIEW_ITEMS_MAX = 1_000
const PREVIEW_ITEMS_USUAL = 100

interface PreviewInput {
  readonly bucket: string
  /** Absent: those of the bucket. */
  readonly rules?: readonly LifecycleRuleInput[]
  /** How many items are shown. */
  readonly limit?: number
  readonly continuationToken?: string
}

export interface LifecyclePreview {
  /** ms since 1970 */
  readonly judgedAt: number
  readonly rows: number
  readonly counts: Readonly<Record<LifecycleKind, number>>
  /** Bytes that would count no more. */
  readonly bytes: number
  /** What rules name and a lock keeps; not in `counts`. */
  readonly locked: number
  /** The first that would go, or that a lock keeps. */
  readonly items: readonly LifecyclePlanned[]
  readonly nextContinuationToken: string | null
}

export const previewBucketLifecycle = dataOperation(
  {
    id: 'previewBucketLifecycle',
    isListing: true,
    requires: accessKey('admin', 'whole-bucket'),
    s3Action: S3_ACTIONS.getLifecycle,
    refuses: ['invalid_continuation_token', 'invalid_tag', 'precondition_failed'],
    target: bucketTarget,
  },
  async (services, principal, input: PreviewInput): Promise<LifecyclePreview> => {
    const bucket = findBucket(services, principal.tenantId, input.bucket)
    const rules =
      input.rules === undefined ? storedRules(services, bucket).rules : checkLifecycleRules(input.rules)
    await requireLevel(services.cluster, COMMAND_LEVELS.applyLifecycleRule)
    const { state, cluster } = services
    const time = cluster.time.status().confirmedTime
    const shape = createHash('sha256').update(JSON.stringify(rules)).digest('hex')
    const context = ['previewBucketLifecycle', bucket.id, shape]
    const { continuationToken, limit = PREVIEW_ITEMS_USUAL } = input
    let place =
      continuationToken === undefined
        ? null
        : placeIn(openContinuationToken(services, context, continuationToken))
    const tally = new Tally(Math.min(limit, PREVIEW_ITEMS_MAX))
    do {
      const page = await lifecyclePage(state, { bucket, rules, time }, place, PAGE_ROWS)
      tally.add(page)
      place = page.next
    } while (place !== null && tally.rows < PREVIEW_ROWS_MAX)
    const nextContinuationToken =
      place === null ? null : sealContinuationToken(services, context, textOf(place))
    return { judgedAt: time, ...tally.result(), nextContinuationToken }
  },
)

const textOf = ({ kind, after }: LifecyclePlace): string => `${kind}/${after}`

/** Of a token that was sealed here. */
function placeIn(text: string): LifecyclePlace {
  const at = text.indexOf('/')
  return { kind: text.slice(0, at) as WalkedKind, after: text.slice(at + 1) }
}

class Tally {
  readonly #limit: number
  readonly #items: LifecyclePlanned[] = []
  readonly #counts: Record<LifecycleKind, number> = {
    expired: 0,
    hidden: 0,
    noncurrent: 0,
    marker: 0,
    upload: 0,
  }
  #bytes = 0
  #locked = 0
  #rows = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get rows(): number {
    return this.#rows
  }

  add({ rows, planned }: { readonly rows: number; readonly planned: readonly LifecyclePlanned[] }): void {
    this.#rows += rows
    for (const one of planned) {
      if (this.#items.length < this.#limit) this.#items.push(one)
      if (one.lock !== null) {
        this.#locked++
        continue
      }
      this.#counts[one.kind]++
      this.#bytes += one.bytes
    }
  }

  result() {
    const counts = this.#counts
    return { rows: this.#rows, counts, bytes: this.#bytes, locked: this.#locked, items: this.#items }
  }
}
