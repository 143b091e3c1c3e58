/**
 * How much of one memory each tenant, each key of a tenant and each address of a key may hold.
 *
 * Owns: the arithmetic; pure. Knows nothing of: who waits, what the memory is for.
 * Rule: a group may hold at most SHARE times what is still free to it, at each of the three levels (dynamic thresholds,
 * Choudhury and Hahne 1998). One tenant alone gets most of the memory, and a part stays free for the next one to come.
 */
import assert from 'node:assert/strict'

const SHARE = 4
const SEPARATOR = '\0'

/** Who uploads. */
export interface UploadCaller {
  readonly tenantId: string
  readonly accessKeyId: string
  /** Of the client. */
  readonly address: string
}

interface Group {
  bytes: number
  /** Groups below it that hold memory. */
  members: number
}

export class MemoryShares {
  readonly #bytesMax: number
  readonly #groups = new Map<string, Group>()
  #tenants = 0
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Held by all together. */
  get bytes(): number {
    return this.#bytes
  }

  get bytesMax(): number {
    return this.#bytesMax
  }

  bytesOfTenant({ tenantId }: UploadCaller): number {
    return this.#groups.get(tenantId)?.bytes ?? 0
  }

  /** What the caller may take in addition; may be negative. */
  roomFor(caller: UploadCaller): number {
    let room = this.#bytesMax - this.#bytes
    for (const path of pathsOf(caller)) room = SHARE * room - (this.#groups.get(path)?.bytes ?? 0)
    return room
  }

  /** True if tenant, key and address each hold at least the mean of their like: only then does one of their uploads give way. */
  isHeavy(caller: UploadCaller): boolean {
    let [bytes, members] = [this.#bytes, this.#tenants]
    for (const path of pathsOf(caller)) {
      const group = this.#groups.get(path)
      if (group === undefined || group.bytes * members < bytes) return false
      bytes = group.bytes
      members = group.members
    }
    return true
  }

  take(caller: UploadCaller, bytes: number): void {
    this.#bytes += bytes
    let above: Group | null = null
    for (const path of pathsOf(caller)) {
      const known = this.#groups.get(path)
      const group = known ?? { bytes: 0, members: 0 }
      if (known === undefined) {
        this.#groups.set(path, group)
        if (above === null) this.#tenants += 1
        else above.members += 1
      }
      group.bytes += bytes
      above = group
    }
  }

  give(caller: UploadCaller, bytes: number): void {
    this.#bytes -= bytes
    let above: Group | null = null
    for (const path of pathsOf(caller)) {
      const group = this.#groups.get(path)
      assert(group !== undefined && group.bytes >= bytes, 'only what was taken is given back')
      group.bytes -= bytes
      if (group.bytes === 0) {
        this.#groups.delete(path)
        if (above === null) this.#tenants -= 1
        else above.members -= 1
      }
      above = group
    }
  }
}

/** Tenant, key, address. No id has the separator. */
function pathsOf({ tenantId, accessKeyId, address }: UploadCaller): readonly [string, string, string] {
  const key = `${tenantId}${SEPARATOR}${accessKeyId}`
  return [tenantId, key, `${key}${SEPARATOR}${address}`]
}
