/**
 * What may be said of the master keys of a node: their ids and fingerprints, and how far a rotation is.
 *
 * Owns: the count of the last walk. Knows nothing of: who asks. Rule: no key, and nothing that is derived from one but its fingerprint, is in here.
 */
import type { MasterKey } from './master-key.ts'

export interface KeyName {
  readonly id: string
  readonly fingerprint: string
}

export class MasterKeyReport {
  readonly #masterKey: Pick<MasterKey, 'ids' | 'fingerprints'>
  #secretsLeft: number | null = null

  constructor(masterKey: Pick<MasterKey, 'ids' | 'fingerprints'>) {
    this.#masterKey = masterKey
  }

  /** As in the key file, the newest first. */
  get keys(): readonly KeyName[] {
    const { ids, fingerprints } = this.#masterKey
    return ids.map((id, at) => ({ id, fingerprint: fingerprints[at] ?? '' }))
  }

  /** Secrets that are not sealed under the newest key, as of the last walk of this node. Null: it has made none. */
  get secretsLeft(): number | null {
    return this.#secretsLeft
  }

  /** A walk over all secrets has ended. */
  noteWalk(secretsLeft: number): void {
    this.#secretsLeft = secretsLeft
  }
}
