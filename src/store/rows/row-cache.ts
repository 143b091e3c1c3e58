/**
 * Decoded rows that nearly every request reads: its access key, its tenant, its bucket and what belongs to them. [record 61]
 *
 * Owns: which rows are kept, the bounds, and that none is older than the database. Knows nothing of: what rows mean.
 * Rules: a row that a write changes is dropped before the write begins and is not kept again before it is durable, so a reader sees what
 * LevelDB would give it; a database has a cache of its own, so an installed or rebuilt state begins without one; rows are
 * shared between readers, so they are frozen; a row is kept only after its checksum agreed.
 */
import { Recent, type RecentBounds } from '../../base/recent.ts'
import { bucketKeys } from '../../state-machine/buckets/keys.ts'
import { lifecycleKeys } from '../../state-machine/lifecycle/keys.ts'
import { siteKeys } from '../../state-machine/sites/keys.ts'
import { limitKeys } from '../../state-machine/limits/keys.ts'
import { kindOf, type RowKey, SEPARATOR } from '../../state-machine/base/row-key.ts'
import { tenantKeys } from '../../state-machine/tenants/keys.ts'

/** Of one generation of `Recent`. */
const ROWS_MAX = 4_096
const BYTES_MAX = 4 * 1024 * 1024
/** A kept row takes more than its stored bytes: the decoded form and its places in maps. */
const OVERHEAD_BYTES = 256

const KINDS: ReadonlySet<string> = new Set(
  [
    tenantKeys.tenant(''),
    tenantKeys.accessKey(''),
    tenantKeys.adminToken(''),
    tenantKeys.adminTokenHash(''),
    bucketKeys.bucket('', ''),
    bucketKeys.bucketPolicy(''),
    bucketKeys.cors(''),
    lifecycleKeys.lifecycle(''),
    siteKeys.site(''),
    limitKeys.limits(''),
  ].map(kindOf),
)

export interface KeptRow<R extends object = object> {
  readonly row: R
  /** The bytes that the row was made of. */
  readonly value: Buffer
}

export class RowCache {
  readonly #kept: Recent<KeptRow | null>
  /** How many writes that are not durable yet change a row of this key. */
  readonly #changing = new Map<string, number>()

  constructor(bounds: RecentBounds = { countMax: ROWS_MAX, weightMax: BYTES_MAX }) {
    this.#kept = new Recent(bounds)
  }

  /** At most two generations. */
  get size(): number {
    return this.#kept.size
  }

  /** Null: there is no such row. Undefined: not kept, ask the database. */
  get<R extends object>(key: RowKey<R>): KeptRow<R> | null | undefined {
    return this.#kept.get(key) as KeptRow<R> | null | undefined
  }

  /** What the database gave for a key, null where there is no row. Rows of other kinds, and rows that are being changed, are not kept. */
  keep(key: RowKey, stored: KeptRow | null): void {
    if (this.#changing.has(key) || !isOfCallers(key)) return
    if (stored !== null) freeze(stored.row)
    this.#kept.set(key, stored, bytesOf(key, stored))
  }

  /** Call it before a write begins. Returns what to call when it is durable; after a write that failed, its rows are not kept again. */
  changing(keys: readonly string[]): () => void {
    const names = keys.filter(isOfCallers)
    for (const name of names) {
      this.#kept.delete(name)
      this.#changing.set(name, (this.#changing.get(name) ?? 0) + 1)
    }
    return () => {
      for (const name of names) {
        const writes = this.#changing.get(name) ?? 0
        if (writes > 1) this.#changing.set(name, writes - 1)
        else this.#changing.delete(name)
      }
    }
  }
}

function bytesOf(key: string, stored: KeptRow | null): number {
  return OVERHEAD_BYTES + key.length + (stored?.value.length ?? 0)
}

/** As `kindOf`, without an array: it is asked for each key of each write. */
function isOfCallers(key: string): boolean {
  const first = key.indexOf(SEPARATOR)
  const kind = first === -1 ? key : key.slice(0, first)
  if (kind !== IN_BUCKET) return KINDS.has(kind)
  const second = key.indexOf(SEPARATOR, first + 1)
  if (second === -1) return false
  const third = key.indexOf(SEPARATOR, second + 1)
  return KINDS.has(third === -1 ? key.slice(second + 1) : key.slice(second + 1, third))
}

const IN_BUCKET = 'in'

/** Rows are immutable values: code that changes one that all readers share fails at once. Bytes cannot be frozen. */
function freeze(value: object): void {
  if (value instanceof Uint8Array || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) freeze(part)
}
