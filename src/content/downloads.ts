/**
 * Counts the downloads that this node serves.
 *
 * Owns: the count. Knows nothing of: objects, members, who waits for the end of a download.
 * Rule: a download counts from its first piece that is asked for until its end, however it ends.
 */
export class Downloads {
  #underWay = 0

  get underWay(): number {
    return this.#underWay
  }

  async *counted<Piece>(pieces: AsyncIterable<Piece>): AsyncGenerator<Piece> {
    this.#underWay += 1
    try {
      yield* pieces
    } finally {
      this.#underWay -= 1
    }
  }
}
