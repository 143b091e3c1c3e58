/**
 * What is checked of every entry where work in the background runs beside the clients: what is checked of objects, and what two sites promise.
 */
import type { BackupJudge } from './backup-judge.ts'
import type { Backups } from './backups.ts'
import type { ObjectOracle } from './object-oracle.ts'
import { commandIn, replyIn } from './object-rules.ts'
import type { SiteFigures, TwoSites } from './two-sites.ts'
import type { ApplyObserver } from './apply-observer.ts'

export type BackgroundFigures = SiteFigures & BackupJudge['counts']

export class BackgroundOracle implements ApplyObserver {
  readonly sites: TwoSites
  readonly backups: Backups
  readonly #objects: ObjectOracle
  readonly #violate: (broken: string) => void

  constructor(
    objects: ObjectOracle,
    { sites, backups }: { readonly sites: TwoSites; readonly backups: Backups },
    violate: (broken: string) => void,
  ) {
    this.#objects = objects
    this.sites = sites
    this.backups = backups
    this.#violate = violate
  }

  start(): void {
    this.sites.start()
    this.backups.start()
  }

  /** Nothing waits that work in the background would do. */
  get isSettled(): boolean {
    return this.sites.isSettled && this.backups.isSettled
  }

  get figures(): BackgroundFigures {
    return { ...this.sites.figures, ...this.backups.judge.counts }
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
      this.#holds(`entry ${entry.index}`, () => {
        this.sites.order.took(command, reply)
        this.backups.judge.took(command, reply)
      })
    }
  }

  settled(changes: ReadonlyMap<string, string | null>): void {
    this.#objects.settled(changes)
    this.#holds('a batch', () => this.backups.judge.settled(this.#objects.world))
  }

  finish(): void {
    this.#objects.finish()
    this.#holds('the end', () => this.backups.judge.finish())
    for (const difference of this.sites.differences())
      this.#violate(`nothing waits, and the sites differ: ${difference}; ${this.sites.waiting}`)
  }

  #holds(what: string, rule: () => void): void {
    try {
      rule()
    } catch (error) {
      this.#violate(`${what}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
}
