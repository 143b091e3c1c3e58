/**
 * A small steady load: through each chosen node a write starts every few milliseconds, regardless of earlier ones.
 *
 * Owns: the clock of the clients and the times of acknowledgements. Knows nothing of: faults.
 * Rule: only 200 counts as acknowledged; a failed write is not repeated, because the next one follows at once and
 * a repetition would only add to the load.
 */
import { Agent, request } from 'undici'
import type { BenchTarget } from '../bench/options.ts'
import { logIn, makeBucket } from '../bench/log-in.ts'

const EVERY_MS = 10
const BODY = Buffer.alloc(256, 'failover')
/** Writes in flight at one node; further ones are skipped, and counted. */
const UNDER_WAY_MAX = 512
const KEYS = 500
const BUCKET = 'failover'

/** Both on the clock of `performance.now()`. */
export interface Acknowledged {
  readonly node: number
  readonly sentAt: number
  readonly at: number
}

export class FailoverLoad {
  /** Failures since the last `forget`. */
  acknowledged: Acknowledged[] = []
  failures: string[] = []
  leftOut = 0
  readonly #target: BenchTarget
  readonly #agent = new Agent()
  readonly #timers = new Map<number, NodeJS.Timeout>()
  readonly #underWay: number[]
  #token = ''
  #sequence = 0

  static async open(target: BenchTarget): Promise<FailoverLoad> {
    const load = new FailoverLoad(target)
    await load.logIn()
    await makeBucket(target, BUCKET)
    return load
  }

  private constructor(target: BenchTarget) {
    this.#target = target
    this.#underWay = target.endpoints.map(() => 0)
  }

  /** Called repeatedly: a token is valid for an hour, and a long series takes longer. */
  async logIn(): Promise<void> {
    this.#token = await logIn(this.#target)
  }

  /** From now on writes go only through these nodes. */
  writeThrough(nodes: readonly number[]): void {
    for (const [node, timer] of this.#timers) {
      if (nodes.includes(node)) continue
      clearInterval(timer)
      this.#timers.delete(node)
    }
    for (const node of nodes) {
      if (!this.#timers.has(node))
        this.#timers.set(
          node,
          setInterval(() => void this.#write(node), EVERY_MS),
        )
    }
  }

  forget(): void {
    this.acknowledged = []
    this.failures = []
    this.leftOut = 0
  }

  async close(): Promise<void> {
    this.writeThrough([])
    await this.#agent.destroy()
  }

  async #write(node: number): Promise<void> {
    if ((this.#underWay[node] ?? 0) >= UNDER_WAY_MAX) {
      this.leftOut += 1
      return
    }
    this.#underWay[node] = (this.#underWay[node] ?? 0) + 1
    const sentAt = performance.now()
    this.#sequence += 1
    try {
      const path = `/api/v1/buckets/${BUCKET}/objects/n${node}-${this.#sequence % KEYS}`
      const { statusCode, body } = await request(`${this.#target.endpoints[node] ?? ''}${path}`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${this.#token}` },
        body: BODY,
        dispatcher: this.#agent,
      })
      const text = await body.text()
      if (statusCode === 200) this.acknowledged.push({ node, sentAt, at: performance.now() })
      else this.failures.push(`${statusCode} ${text.slice(0, 200)}`)
    } catch (error) {
      this.failures.push(String(error))
    } finally {
      this.#underWay[node] = (this.#underWay[node] ?? 0) - 1
    }
  }
}
