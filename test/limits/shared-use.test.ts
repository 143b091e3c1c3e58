/** All nodes together give about one limit: what each of them allows is reported to the others and taken off there. */
import t from 'tap'
import { RateLimiter } from '../../src/access/rate-limiter.ts'
import { Refusal } from '../../src/base/refusal.ts'
import type { CallerLimits, Config } from '../../src/config/types.ts'
import type { Admission } from '../../src/limits/admission.ts'
import { Limits } from '../../src/limits/limits.ts'
import { SharedUse } from '../../src/limits/shared-use.ts'
import { NO_CALLER_LIMITS, TEST_CALLERS } from '../helpers/content-world.ts'

const EVERY_MS = 250
const CALLER = { tenantId: 'acme', accessKeyId: 'AK1', address: '203.0.113.1' }

/** Nodes that hear each report some time after it was sent. */
class Nodes {
  nowMs = 0
  readonly nodes
  readonly #underWay: { atMs: number; from: number; report: Uint8Array }[] = []
  /** Of reports. */
  delayMs = 20

  constructor(count: number, tenant: Partial<CallerLimits>, callers: Partial<Config['callers']> = {}) {
    const now = (): number => this.nowMs
    const settings = {
      ...TEST_CALLERS,
      tenant: { ...NO_CALLER_LIMITS, ...tenant },
      queueWaitMs: 1,
      ...callers,
    }
    this.nodes = Array.from({ length: count }, () => {
      const limits = new Limits({ settings, state: { get: () => undefined }, now })
      const { tenants, accessKeys, addresses } = limits
      const tokens = new RateLimiter({ perMinute: 600, burst: 100, callersMax: 10, isShared: true }, now)
      const onReport = (): void => limits.turns.advance()
      const shared = new SharedUse({ callers: [tenants, accessKeys, addresses], tokens, onReport, now })
      return { limits, tokens, shared }
    })
  }

  /** A millisecond passes; every node reports each EVERY_MS, one after the other. */
  step(): void {
    this.nowMs += 1
    this.nodes.forEach(({ shared }, from) => {
      if ((this.nowMs + from * 80) % EVERY_MS !== 0) return
      const report = shared.report()
      if (report !== null) this.#underWay.push({ atMs: this.nowMs + this.delayMs, from, report })
    })
    while ((this.#underWay[0]?.atMs ?? Infinity) <= this.nowMs) {
      const { from, report } = this.#underWay.shift()!
      this.nodes.forEach(({ shared }, to) => void (to !== from && shared.hear(`n${from}`, report)))
    }
  }

  pass(ms: number): void {
    for (let n = 0; n < ms; n++) this.step()
  }

  /** Whether a request is allowed at a node; it ends at once. */
  isAllowed(node: number): boolean {
    const admission = this.begin(node)
    admission?.release()
    return admission !== null
  }

  begin(node: number, isUpload = false): Admission | null {
    try {
      const leaving = new AbortController()
      const admission = this.nodes[node]?.limits.admit(CALLER, { isUpload, client: leaving })
      if (!(admission instanceof Promise)) return admission ?? null
      // What would have to wait leaves at once.
      admission.catch(() => undefined)
      leaving.abort()
      return null
    } catch (error) {
      if (error instanceof Refusal) return null
      throw error
    }
  }
}

/** How often a tenant is served that asks every node each millisecond, for so many seconds after the burst is gone. */
function servedPerSecond(world: Nodes, seconds: number): number {
  const all = world.nodes.map((_, node) => node)
  for (let ms = 0; ms < 10_000; ms++) {
    world.step()
    for (const node of all) world.isAllowed(node)
  }
  let served = 0
  for (let ms = 0; ms < seconds * 1_000; ms++) {
    world.step()
    for (const node of all) if (world.isAllowed(node)) served += 1
  }
  return served / seconds
}

t.test('a tenant that asks three nodes at once', async (t) => {
  t.test('is served as often as its limit says, not three times as often', async (t) => {
    const world = new Nodes(3, { requestsPerSecond: 100, burstSeconds: 1 })
    const ratio = servedPerSecond(world, 20) / 100
    t.comment(`served / limit over 20 s: ${ratio.toFixed(3)}`)
    t.ok(ratio > 0.95 && ratio < 1.05, `${ratio}`)
  })

  t.test('gets at first one burst, and at most what three nodes give within a report', async (t) => {
    const world = new Nodes(3, { requestsPerSecond: 100, burstSeconds: 10 })
    let served = 0
    for (let ms = 0; ms < 10_000; ms++) {
      world.step()
      // 600 a second over three nodes.
      if (ms % 5 === 0) for (const node of [0, 1, 2]) if (world.isAllowed(node)) served += 1
    }
    t.comment(`served in the first 10 s: ${served}, one node: 2,000`)
    t.ok(served < 2_000 * 1.15, `${served}`)
    t.ok(served > 2_000 * 0.9, `${served}`)
  })

  t.test('is served as often where only one of three nodes is asked', async (t) => {
    const world = new Nodes(3, { requestsPerSecond: 100, burstSeconds: 1 })
    for (let ms = 0; ms < 10_000; ms++) {
      world.step()
      world.isAllowed(0)
    }
    let served = 0
    for (let ms = 0; ms < 10_000; ms++) {
      world.step()
      if (world.isAllowed(0)) served += 1
    }
    t.ok(served >= 999 && served <= 1_001, `${served}`)
  })
})

t.test('what runs on other nodes counts, until they end it or are silent', async (t) => {
  const world = new Nodes(3, { requestsAtOnce: 10, uploadsAtOnce: 4 })
  const uploads = [world.begin(0, true), world.begin(1, true), world.begin(1, true), world.begin(2, true)]
  t.ok(uploads.every((upload) => upload !== null))
  world.pass(600)
  for (const node of [0, 1, 2]) t.equal(world.begin(node, true), null, `no fifth at node ${node}`)
  t.ok(world.isAllowed(0), 'what is no upload is served')
  uploads[0]?.release()
  world.pass(600)
  const next = world.begin(2, true)
  t.ok(next, 'one ended elsewhere')
  world.nodes[1]!.shared.report = () => null
  world.pass(10_000)
  t.ok(world.begin(0, true), 'a node that is silent does not count indefinitely')
})

t.test('requests of an admin token count on every node', async (t) => {
  const world = new Nodes(3, {})
  for (let n = 0; n < 100; n++) world.nodes[n % 3]!.tokens.take('T1')
  world.pass(600)
  for (const { tokens } of world.nodes) {
    t.ok((tokens.rateStatus('T1').left ?? 0) <= 10)
    t.equal(tokens.rateStatus('T2').left, 100)
  }
})

t.test('a report that cannot be read is ignored, and one that can is bounded', async (t) => {
  const world = new Nodes(2, { requestsPerSecond: 10, burstSeconds: 1 })
  const { shared, limits } = world.nodes[0]!
  const text = (value: unknown): Uint8Array =>
    Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
  const row = ['tenant', 'acme', 5, 0, 0, 0, 0]
  for (const report of [
    '{',
    'null',
    [2, [row]],
    [1, 'x'],
    [1, [['planet', 'acme', 5, 0, 0, 0, 0]]],
    [1, [['tenant', 'acme', -5, 0, 0, 0, 0]]],
    [1, [['tenant', 'acme', 1e300, 0, 0, 0, 0]]],
    [1, [['tenant', 'x'.repeat(129), 5, 0, 0, 0, 0]]],
    [1, [['tenant', 'acme', 5]]],
  ])
    shared.hear('n9', text(report))
  t.equal(limits.tenants.size, 0)
  shared.hear('n9', text([1, [row]]))
  t.equal(limits.tenants.known('acme')?.requestStatus(0).left, 5)
  for (let n = 0; n < 1_000; n++) world.nodes[1]!.tokens.take(`T${n}`)
  t.ok((world.nodes[1]!.shared.report()?.length ?? Infinity) < 65_536)
})
