/**
 * What is checked of every entry where work in the background runs beside the clients: what is checked of objects, and what two sites promise.
 */
import type { ObjectOracle } from './object-oracle.ts'
import { commandIn, replyIn } from './object-rules.ts'
import type { TwoSites } from './two-sites.ts'
import type { ApplyObserver } from './apply-observer.ts'

export class BackgroundOracle implements ApplyObserver {
  readonly sites: TwoSites
  readonly #objects: ObjectOracle
  readonly #violate: (broken: string) => void

  constructor(objects: ObjectOracle, sites: TwoSites, violate: (broken: string) => void) {
    this.#objects = objects
    this.sites = sites
    this.#violate = violate
  }

  get answers(): ReadonlyMap<string, number> {
    return this.#objects.answers
  }

  took(entry: Parameters<ApplyObserver['took']>[0], replies: readonly string[]): void {
    this.sites.time = Math.max(this.sites.time, entry.time)
    this.#objects.took(entry, replies)
    for (const [n, call] of entry.commands.entries()) {
      const [command, reply] = [commandIn(call), replyIn(replies[n] ?? '')]
      this.sites.noted(`entry ${entry.index}`, command, reply)
      try {
        this.sites.order.took(command, reply)
      } catch (error) {
        this.#violate(`entry ${entry.index}: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
  }

  settled(changes: ReadonlyMap<string, string | null>): void {
    this.#objects.settled(changes)
  }

  finish(): void {
    this.#objects.finish()
    for (const difference of this.sites.differences())
      this.#violate(`nothing waits, and the sites differ: ${difference}; ${this.sites.waiting}`)
  }
}
