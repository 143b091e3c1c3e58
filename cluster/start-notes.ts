/**
 * What a running process writes into the identity of its data directory after its start.
 *
 * Owns: that one write does not undo another. Knows nothing of: what the fingerprint is of, who asks.
 * Rule: one write at a time, each with everything that was noted before.
 */
import { type Identity, writeIdentity } from './membership/identity.ts'

export class StartNotes {
  readonly #dataDir: string
  #identity: Identity
  #writing: Promise<void> = Promise.resolve()

  constructor(dataDir: string, identity: Identity) {
    this.#dataDir = dataDir
    this.#identity = identity
  }

  /** This process is registered: whoever is started next on this directory comes after it alone. Durable when it resolves. */
  confirm(): Promise<void> {
    return this.#note({ before: [] })
  }

  /** The one of this start says nothing of the group: the next start may have another. Durable when it resolves. */
  forgetFingerprint(): Promise<void> {
    return this.#note({ fingerprint: '' })
  }

  /** Nothing is being written any more. */
  written(): Promise<void> {
    return this.#writing
  }

  #note(news: Partial<Identity>): Promise<void> {
    this.#identity = { ...this.#identity, ...news }
    const identity = this.#identity
    const written = this.#writing.then(() => writeIdentity(this.#dataDir, identity))
    this.#writing = written.catch(() => undefined)
    return written
  }
}
