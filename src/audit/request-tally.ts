/**
 * Counts requests that are alike, so that a flood of them becomes a few rows: the first of a minute are rows of their own, the others
 * one row with their number.
 *
 * Owns: which requests are alike, and the numbers. Knows nothing of: clocks, files.
 * Rules: memory is bounded exactly: `groupsMax` groups, and beyond them one for each code; no request is forgotten, because a group stays
 * until its row is taken.
 */
import type { AuditRow } from '../state-machine/audit/records.ts'

export interface TallyBounds {
  /** Rows of their own of one group in one window. */
  readonly ownRows: number
  /** The same of all groups together. */
  readonly ownRowsOfAll: number
  /** Groups at a time; the rows of others are counted by their code alone. */
  readonly groupsMax: number
  readonly windowMs: number
}

export interface Alike {
  /** Whose requests are counted together. */
  readonly by: string
  /** False: never a row of its own. */
  readonly mayBeOwn: boolean
  /** Monotonic milliseconds. */
  readonly now: number
}

interface Group {
  /** Null: of more callers than there are groups. */
  readonly by: string | null
  readonly beganMs: number
  own: number
  count: number
  /** The first row that was counted; null: none was. */
  example: AuditRow | null
  lastTime: number
  bytesIn: number
  bytesOut: number
}

export class RequestTally {
  readonly #bounds: TallyBounds
  /** The oldest first. */
  readonly #groups = new Map<string, Group>()
  #ownOfAll = 0
  #ownSinceMs = 0
  #counted = 0

  constructor(bounds: TallyBounds) {
    this.#bounds = bounds
  }

  /** Requests that were counted instead of kept. */
  get counted(): number {
    return this.#counted
  }

  get groups(): number {
    return this.#groups.size
  }

  /** True: the row is one of its own, and the caller keeps it. False: it was counted. */
  take(row: AuditRow, alike: Alike): boolean {
    const group = this.#groupOf(row, alike)
    if (alike.mayBeOwn && group.by !== null && this.#mayOwn(group, alike.now)) {
      group.own++
      this.#ownOfAll++
      return true
    }
    this.#counted++
    group.count++
    group.example ??= row
    group.lastTime = row.time
    group.bytesIn += row.bytesIn
    group.bytesOut += row.bytesOut ?? 0
    return false
  }

  /** Takes the row of the oldest group whose window has ended at `now`; null: there is none. */
  takeEnded(now: number): AuditRow | null {
    for (const [key, group] of this.#groups) {
      if (now - group.beganMs < this.#bounds.windowMs) return null
      this.#groups.delete(key)
      const { example, count, lastTime, bytesIn, bytesOut, by } = group
      if (example === null) continue
      const repeated = { count, firstTime: example.time, lastTime, from: by }
      return { ...example, time: lastTime, bytesIn, bytesOut, repeated }
    }
    return null
  }

  #mayOwn(group: Group, now: number): boolean {
    const { ownRows, ownRowsOfAll, windowMs } = this.#bounds
    if (now - this.#ownSinceMs >= windowMs) {
      this.#ownSinceMs = now
      this.#ownOfAll = 0
    }
    return group.own < ownRows && this.#ownOfAll < ownRowsOfAll
  }

  #groupOf({ api, operation, code, status }: AuditRow, { by, now }: Alike): Group {
    const key = [by, api, operation, code, status].join('\n')
    const known = this.#groups.get(key)
    if (known !== undefined) return known
    if (this.#groups.size < this.#bounds.groupsMax) return this.#begin(key, by, now)
    // Codes are a closed list, so these groups are few.
    const shared = ['', code].join('\n')
    return this.#groups.get(shared) ?? this.#begin(shared, null, now)
  }

  #begin(key: string, by: string | null, now: number): Group {
    const counted = { own: 0, count: 0, example: null, lastTime: 0, bytesIn: 0, bytesOut: 0 }
    const group: Group = { by, beganMs: now, ...counted }
    this.#groups.set(key, group)
    return group
  }
}
