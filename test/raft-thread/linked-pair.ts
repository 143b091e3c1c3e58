/**
 * Two ends of a link in one thread: what one posts is cloned and moved as a message between threads is, and arrives in a later turn.
 */
import type { Parcel } from '../../cluster/raft-thread/link-bytes.ts'
import { type CallsOf, Link, type LinkMessage } from '../../cluster/raft-thread/link.ts'

export interface LinkedPair<Left extends CallsOf<Left>, Right extends CallsOf<Right>> {
  /** Answers `Left`. */
  readonly left: Link<Right>
  /** Answers `Right`. */
  readonly right: Link<Left>
  /** Messages of all kinds that crossed to the right, oldest first. */
  readonly crossed: readonly LinkMessage[]
}

export function linkedPair<Left extends CallsOf<Left>, Right extends CallsOf<Right>>(): LinkedPair<
  Left,
  Right
> {
  const crossed: LinkMessage[] = []
  const left = new Link<Right>({
    post: (parcel) => {
      const messages = moved(parcel)
      crossed.push(...messages)
      setImmediate(() => right.receive(messages))
    },
    atTurnEnd: setImmediate,
  })
  const right: Link<Left> = new Link<Left>({
    post: (parcel) => {
      const messages = moved(parcel)
      setImmediate(() => left.receive(messages))
    },
    atTurnEnd: setImmediate,
  })
  return { left, right, crossed }
}

function moved({ content, buffer }: Parcel): readonly LinkMessage[] {
  return structuredClone(content, { transfer: buffer === null ? [] : [buffer] }) as readonly LinkMessage[]
}
