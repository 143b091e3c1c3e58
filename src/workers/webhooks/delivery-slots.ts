/**
 * How many attempts may be under way, and for which hook, so that no target holds back another one.
 *
 * Owns: the shares. PURE but for its counters: no clock, no I/O.
 * Rules: all together, each tenant and each hook have a bound; a hook that only fails gets one attempt at a time; the last half of
 * all slots goes only to hooks that have none, so a few slow ones never take everything.
 */
import type { HookRecord } from '../../state-machine/events/records.ts'

export const SLOTS_MAX = 256
export const TENANT_SLOTS_MAX = 96
export const HOOK_SLOTS_MAX = 8
/** After this many failures in a row a hook has one slot. */
const FAILURES_TO_DOUBT = 3

type Claimant = Pick<HookRecord, 'hookId' | 'tenantId' | 'failures'>

export class DeliverySlots {
  #all = 0
  readonly #ofTenant = new Map<string, number>()
  readonly #ofHook = new Map<string, number>()

  /** How many more this hook may take now. */
  freeFor({ hookId, tenantId, failures }: Claimant): number {
    const own = this.takenBy(hookId)
    const share = failures >= FAILURES_TO_DOUBT || this.#all >= SLOTS_MAX / 2 ? 1 : HOOK_SLOTS_MAX
    const ofTenant = TENANT_SLOTS_MAX - (this.#ofTenant.get(tenantId) ?? 0)
    return Math.max(0, Math.min(share - own, ofTenant, SLOTS_MAX - this.#all))
  }

  takenBy(hookId: string): number {
    return this.#ofHook.get(hookId) ?? 0
  }

  get taken(): number {
    return this.#all
  }

  take(claimant: Claimant): void {
    this.#count(claimant, 1)
  }

  release(claimant: Claimant): void {
    this.#count(claimant, -1)
  }

  #count({ hookId, tenantId }: Claimant, change: 1 | -1): void {
    this.#all += change
    add(this.#ofTenant, tenantId, change)
    add(this.#ofHook, hookId, change)
  }
}

function add(counts: Map<string, number>, name: string, change: number): void {
  const count = (counts.get(name) ?? 0) + change
  if (count === 0) counts.delete(name)
  else counts.set(name, count)
}
