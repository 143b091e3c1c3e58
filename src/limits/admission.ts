/**
 * One admitted request: what it holds of its callers' limits and of the node's turns, until it ends.
 *
 * Owns: when it works and when it waits for its client, and how long its bytes are held back. Knows nothing of: HTTP.
 * Rules: it is released in whichever way the request ends, once; bytes are counted when they pass and held back until they fit, never cut.
 */
import { setTimeout as rest } from 'node:timers/promises'
import type { CallerUse } from './caller-use.ts'
import type { Client } from './limits.ts'
import type { TenantPresence } from './tenant-presence.ts'
import type { TenantTurns } from './tenant-turns.ts'
import type { Turns, WaitingTurn } from './turns.ts'

/** Shorter waits are added up: a timer for each small piece would cost more than it delays. */
const DELAY_MS_LEAST = 10

/** Where a node counts what it delays. */
export interface Delays {
  inSeconds: number
  outSeconds: number
}

export interface AdmissionParts {
  readonly turns: Turns<Admission>
  readonly callers: readonly CallerUse[]
  readonly isUpload: boolean
  readonly client: Client
  readonly now: () => number
  readonly delays: Delays
  readonly reads: TenantTurns
  readonly proposals: TenantTurns
  readonly presence: TenantPresence
}

export class Admission implements WaitingTurn {
  readonly tenant: string
  readonly lane: string
  readonly weight: number
  readonly #parts: AdmissionParts
  #state: 'new' | 'working' | 'resting' | 'released' = 'new'

  constructor(
    who: { readonly tenant: string; readonly lane: string; readonly weight: number },
    parts: AdmissionParts,
  ) {
    this.tenant = who.tenant
    this.lane = who.lane
    this.weight = who.weight
    this.#parts = parts
  }

  get callers(): readonly CallerUse[] {
    return this.#parts.callers
  }

  get isContinued(): boolean {
    return this.#state !== 'new'
  }

  /** Whether none of its callers has as many requests as it may. */
  get mayBegin(): boolean {
    return this.fullCount() === null
  }

  /** The first caller, in the order tenant, key, address, that runs as much as it may. */
  fullCount(): { readonly caller: CallerUse; readonly what: 'requests' | 'uploads' } | null {
    const { callers, isUpload, now } = this.#parts
    for (const caller of callers) {
      const what = caller.fullCount(isUpload, now())
      if (what !== null) return { caller, what }
    }
    return null
  }

  /** For Turns. */
  started(): void {
    const { callers, isUpload } = this.#parts
    if (this.#state === 'new') for (const caller of callers) caller.begin(isUpload)
    this.#state = 'working'
  }

  /** From here on the request waits for its client, and others have the turn. */
  rest(): void {
    if (this.#state !== 'working') return
    this.#state = 'resting'
    this.#parts.turns.give(this)
  }

  /** It has something to do again. null: at once. Never rejects. */
  resume(): null | Promise<void> {
    if (this.#state !== 'resting') return null
    const { turns, client, presence, now } = this.#parts
    presence.note(this.tenant, now())
    return turns.take(this, client)?.then(() => undefined) ?? null
  }

  /** Reads the next piece of its answer, in turns with other tenants. Settles as `work` does. */
  read<T>(work: () => Promise<T>): Promise<T> {
    return this.#parts.reads.run(this, work)
  }

  /** Proposes a change, in turns with other tenants. Settles as `work` does. */
  propose<T>(work: () => Promise<T>): Promise<T> {
    return this.#parts.proposals.run(this, work)
  }

  /** Bytes of a body that have come, or are about to leave. Resolves when they fit into all rates; null: they do now. Never rejects. */
  pass(direction: 'in' | 'out', bytes: number): null | Promise<void> {
    const waitMs = this.charge(direction, bytes)
    return waitMs < DELAY_MS_LEAST ? null : this.#holdBack(direction, waitMs)
  }

  /** Counts without a delay: for what is sent anyway, and held against what comes next. Returns the delay in milliseconds. */
  charge(direction: 'in' | 'out', bytes: number): number {
    const { callers, now } = this.#parts
    const nowMs = now()
    let waitMs = 0
    for (const caller of callers) waitMs = Math.max(waitMs, caller.chargeBytes(direction, bytes, nowMs))
    if (waitMs >= DELAY_MS_LEAST) for (const caller of callers) caller.limitedAtMs = nowMs
    return waitMs
  }

  /** Repeating it changes nothing. */
  release(): void {
    const { callers, isUpload, turns } = this.#parts
    if (this.#state === 'released') return
    if (this.#state !== 'new') for (const caller of callers) caller.end(isUpload)
    this.#state = 'released'
    turns.give(this)
  }

  async #holdBack(direction: 'in' | 'out', waitMs: number): Promise<void> {
    const { client, delays } = this.#parts
    this.rest()
    if (direction === 'in') delays.inSeconds += waitMs / 1000
    else delays.outSeconds += waitMs / 1000
    // An aborted wait ends: the reader of the body meets the broken connection itself.
    await rest(waitMs, undefined, { signal: client.signal }).catch(() => undefined)
    await this.resume()
  }
}
