/**
 * The open keys of one tenant by their versions: the one that seals, and during an exchange the one before.
 *
 * Owns: which version is which. Knows nothing of: the master key, rows. Rule: only the present key seals.
 */
import type { TenantKeys } from './tenant-keys.ts'

export interface VersionedKeys {
  readonly version: number
  readonly keys: TenantKeys
}

export class KeyRing {
  readonly present: VersionedKeys
  readonly #former: VersionedKeys | null

  constructor(present: VersionedKeys, former: VersionedKeys | null = null) {
    this.present = present
    this.#former = former
  }

  /** Undefined: the ring does not have it; the tenant may have it now, or it was destroyed. */
  of(version: number): TenantKeys | undefined {
    const { present } = this
    if (version === present.version) return present.keys
    return version === this.#former?.version ? this.#former.keys : undefined
  }
}
