/**
 * A real store, a real deliverer, and a clock that only the test moves; the log follows the clock.
 */
import type { Propose } from '../../../src/commands/propose.ts'
import type { DeliveryRecord, HookRecord } from '../../../src/state-machine/events/records.ts'
import { Delivering } from '../../../src/workers/webhooks/delivering.ts'
import type { Answered, WebhookPost, WebhookSender } from '../../../src/workers/webhooks/webhook-sender.ts'
import { type LogLine, recordingLogger } from '../../helpers/loggers.ts'
import { setNotifications, requested } from '../../state-machine/hook-commands.ts'
import { put } from '../../state-machine/map-world.ts'
import { StoreWorld, type Teardown } from '../../store/store-world.ts'
import { dueDeliveries } from '../../../src/store/reads/outbox-reads.ts'
import { eventRanges } from '../../../src/state-machine/events/keys.ts'

type Requested = ReturnType<typeof requested>

export interface SentPost {
  readonly host: string
  readonly id: string
  readonly at: number
  readonly post: WebhookPost
}

export const OK: Answered = { status: 200, error: null, retryAfterMs: null, durationMs: 1 }
export const failure = (status: number, retryAfterMs: number | null = null): Answered => {
  return { status, error: `status ${status}`, retryAfterMs, durationMs: 1 }
}

export class OutboxWorld {
  readonly world: StoreWorld
  readonly lines: LogLine[] = []
  readonly sent: SentPost[] = []
  now: number
  isJobRunner = true
  /** What a target answers, by its host; it may wait. */
  answer: (sent: SentPost) => Promise<Answered> = async () => OK
  /** Thrown by the next proposals while set. */
  proposeFault: Error | null = null
  proposals = 0
  delivering: Delivering
  #turn: Promise<unknown> = Promise.resolve()

  static async start(t: Teardown, ...configs: readonly Requested[]): Promise<OutboxWorld> {
    const world = await StoreWorld.withBucket(t)
    await world.do(setNotifications(configs))
    const outbox = new OutboxWorld(world)
    t.teardown(() => outbox.delivering.close())
    return outbox
  }

  private constructor(world: StoreWorld) {
    this.world = world
    this.now = world.time
    this.delivering = this.another()
  }

  /** As another node would begin, on the same state. `unopened`: a hook whose secret does not open there. */
  another({ unopened = '', sender }: { unopened?: string; sender?: WebhookSender } = {}): Delivering {
    const propose: unknown = (command: Parameters<Propose>[0]) => {
      if (this.proposeFault) throw this.proposeFault
      this.proposals++
      // One entry at a time, as a log has them.
      this.#turn = this.#turn.then(() => this.world.propose(command))
      return this.#turn
    }
    return new Delivering({
      cluster: { isJobRunner: () => this.isJobRunner },
      state: this.world.store.reader,
      propose: propose as Propose,
      sender: sender ?? { post: (post) => this.#post(post), close: async () => undefined },
      secretOf: ({ hookId, secret }) => {
        if (hookId === unopened) throw new Error('this secret does not open')
        return secret
      },
      now: () => this.now,
      hour: () => this.now,
      random: () => 0.5,
      logger: recordingLogger(this.lines),
    })
  }

  async put(...keys: readonly string[]): Promise<void> {
    await this.world.apply(keys.map((key) => put(key, { kind: 'empty' }, 0)))
    this.now = Math.max(this.now, this.world.time)
  }

  /** The clock and the log both. */
  later(ms: number): void {
    this.world.later(ms)
    this.now += ms
  }

  /** Rounds until nothing starts any more and every result is committed. */
  async settle(delivering: Delivering = this.delivering): Promise<void> {
    for (let sent = -1; sent !== this.sent.length; ) {
      sent = this.sent.length
      while (await delivering.round());
      await delivering.idle()
    }
  }

  async hook(id: string): Promise<HookRecord> {
    const hook = (await this.world.store.reader.page(eventRanges.hooks(), { limit: 1000 })).items.find(
      (one) => one.id === id,
    )
    if (hook === undefined) throw new Error(`there is no hook "${id}"`)
    return hook
  }

  /** What of this hook waits, first of all. */
  async due(id: string): Promise<DeliveryRecord | undefined> {
    const [first] = await dueDeliveries(
      this.world.store.reader,
      await this.hook(id),
      8_640_000_000_000_000,
      1,
    )
    return first
  }

  async #post(post: WebhookPost): Promise<Answered> {
    const { hostname: host } = new URL(post.url)
    const sent = { host, id: post.headers['webhook-id'] ?? '', at: this.now, post }
    this.sent.push(sent)
    return this.answer(sent)
  }
}
