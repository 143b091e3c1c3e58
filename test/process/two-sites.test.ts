/**
 * Two real sites that replicate to each other, with random changes at both: an outage of the line, conflicts, deletions, tags and holds. They come to the
 * same winners, by the rule of the later second, and send no change that came from the other one.
 */
import t from 'tap'
import { until } from '../helpers/async.ts'
import { ProcessCluster } from '../helpers/process-cluster.ts'
import { DOOR_OFFSET, Side } from '../helpers/replicated-side.ts'
import { TcpDoor } from '../helpers/tcp-door.ts'

const SEED = Number(process.env['TWO_SITES_SEED'] ?? 7)
const CHANGES = 160
const KEYS = 8

/** A small generator with a seed. */
function drawn(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) / 2 ** 24
  }
}

/** A put or a deletion that was acknowledged: between these times, ms since 1970. */
interface Made {
  readonly key: string
  /** Null: a deletion. */
  readonly text: string | null
  readonly from: number
  readonly to: number
}

class Writer {
  readonly made: Made[] = []
  /** Rows that the changes of this site make at most: what changes nothing makes none. */
  queued = 0
  readonly #side: Side
  readonly #random: () => number
  readonly #own: { readonly key: string; readonly versionId: string }[] = []

  constructor(side: Side, seed: number) {
    this.#side = side
    this.#random = drawn(seed)
  }

  async write(changes: number): Promise<void> {
    for (let n = 0; n < changes; n++) {
      const key = `k${Math.floor(this.#random() * KEYS)}`
      const chance = this.#random()
      if (chance < 0.6) await this.#put(key, `${this.#side.bucket} ${this.made.length}`)
      else if (chance < 0.8) await this.#remove(key)
      else await this.#describe(chance < 0.9 ? 'tags' : 'legal-hold', n)
    }
  }

  async #put(key: string, text: string): Promise<void> {
    const from = Date.now()
    const answer = await this.#side.call('PUT', `/objects/${key}`, Buffer.from(text))
    this.made.push({ key, text, from, to: Date.now() })
    this.queued++
    const { versionId } = JSON.parse(answer.body.toString()) as { readonly versionId: string }
    this.#own.push({ key, versionId })
  }

  async #remove(key: string): Promise<void> {
    const from = Date.now()
    await this.#side.call('DELETE', `/objects/${key}`)
    this.made.push({ key, text: null, from, to: Date.now() })
    this.queued++
  }

  /** Of a version of this site: what is set at a replica stays there. */
  async #describe(what: 'tags' | 'legal-hold', n: number): Promise<void> {
    const version = this.#own[Math.floor(this.#random() * this.#own.length)]
    if (version === undefined) return
    const body = what === 'tags' ? { tags: { n: `${n}` } } : { status: this.#random() < 0.5 ? 'ON' : 'OFF' }
    const route = what === 'tags' ? 'object-tags' : 'object-legal-hold'
    const path = `/${route}/${version.key}?versionId=${version.versionId}`
    await this.#side.call('PUT', path, JSON.stringify(body))
    this.queued++
  }
}

/** A change that began in a later second than the winner ended would have had to win. */
function beaten(winner: Made, all: readonly Made[]): Made | undefined {
  const second = (ms: number) => Math.floor(ms / 1000)
  return all.find(({ key, from }) => key === winner.key && second(from) > second(winner.to))
}

t.test(`two sites, seed ${SEED}`, { timeout: 600_000 }, async (t) => {
  const clusters = await Promise.all([ProcessCluster.start(t, 1), ProcessCluster.start(t, 1)])
  const [one, two] = [new Side(clusters[0], 'north'), new Side(clusters[1], 'south')]
  for (const cluster of clusters) await cluster.login('n1')
  const lines = [
    await TcpDoor.open(t, one.port + DOOR_OFFSET, two.port),
    await TcpDoor.open(t, two.port + DOOR_OFFSET, one.port),
  ]
  for (const side of [one, two]) await side.make({ objectLockEnabled: true })
  t.equal((await one.replicateTo(two)).status, 200)
  t.equal((await two.replicateTo(one)).status, 200)
  const writers = [new Writer(one, SEED), new Writer(two, SEED + 1000)] as const
  const both = (changes: number) => Promise.all(writers.map((writer) => writer.write(changes)))

  await both(CHANGES / 4)
  for (const line of lines) line.shut()
  await both(CHANGES / 2)
  await until('both notice it', async () => {
    const states = [await one.status(), await two.status()]
    return states.every(({ unreachableSince }) => unreachableSince !== null)
  })
  for (const line of lines) line.reopen()
  await both(CHANGES / 4)
  await one.settled()
  await two.settled()

  const states = [await one.status(), await two.status()]
  t.match(states, [{ failed: 0 }, { failed: 0 }], JSON.stringify(states))
  const made = writers.flatMap((writer) => writer.made)
  for (let n = 0; n < KEYS; n++) {
    const key = `k${n}`
    const [here, there] = [await one.shown(key), await two.shown(key)]
    t.same(here, there, `${key} is the same at both sites`)
    const winners = made.filter((change) => change.key === key && change.text === (here?.text ?? null))
    const isLatest = winners.some((winner) => beaten(winner, made) === undefined)
    t.ok(isLatest || winners.length + Number(here !== null) === 0, `${key}: no later change lost`)
  }
  t.same([await one.differences(), await two.differences()], [[], []])
  for (const [at, { sent, skipped, conflicts }] of states.entries()) {
    const queued = writers[at]?.queued ?? 0
    t.ok(
      sent + skipped + conflicts <= queued,
      `at most the ${queued} changes of its own clients leave a site`,
    )
  }
  t.ok(states.reduce((sum, { conflicts }) => sum + conflicts, 0) > 0, 'there were conflicts')
})
