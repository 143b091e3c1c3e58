/**
 * Flushes of directories, shared by concurrent callers.
 *
 * Rule: a flush that started before a name was changed does not cover that change, so a caller that arrives during a flush
 * shares the next flush, never the running one.
 */
interface Turn {
  running: Promise<void>
  next: Promise<void> | null
}

export class DirectorySyncs {
  readonly #sync: (path: string) => Promise<void>
  /** Only directories with a flush in progress. */
  readonly #turns = new Map<string, Turn>()

  constructor(sync: (path: string) => Promise<void>) {
    this.#sync = sync
  }

  sync(path: string): Promise<void> {
    const turn = this.#turns.get(path)
    if (turn === undefined) return this.#begin(path)
    turn.next ??= turn.running.then(
      () => this.#begin(path),
      () => this.#begin(path),
    )
    return turn.next
  }

  #begin(path: string): Promise<void> {
    const running = this.#sync(path)
    const turn: Turn = { running, next: null }
    this.#turns.set(path, turn)
    const onEnd = (): void => {
      if (turn.next === null) this.#turns.delete(path)
    }
    running.then(onEnd, onEnd)
    return running
  }
}
