/**
 * Writes of a running process into the identity of its data directory after its start.
 *
 * Owns: that one write does not undo another. Knows nothing of: the meaning of the fingerprint.
 * Rule: one write at a time, each with everything that was noted before.
 */
import { type Identity, writeIdentity } from '../directory/identity.ts'

export class StartNotes {
  readonly #dataDir: string
  #identity: Identity
  #writing: Promise<void> = Promise.resolve()

  constructor(dataDir: string, identity: Identity) {
    this.#dataDir = dataDir
    this.#identity = identity
  }

  /** This process is registered: the next process on this directory has only this one before it. Durable when it resolves. */
  confirm(): Promise<void> {
    return this.#note({ before: [] })
  }

  /** The fingerprint of this start is not that of the group: the next start may use another. Durable when it resolves. */
  forgetFingerprint(): Promise<void> {
    return this.#note({ fingerprint: '' })
  }

  /** Resolves when all writes have ended. */
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
